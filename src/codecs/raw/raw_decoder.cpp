#include "codecs/raw/raw_decoder.h"

#include <new>
#include <utility>

#include "columnar/parse_value.h"

namespace aqueduck::raw {

Result<std::unique_ptr<Decoder>> RawDecoder::make(ValueType type) {
  Column column;
  column.name = "value";
  column.kind = type == ValueType::text ? ColumnKind::text : ColumnKind::blob;
  const std::vector<Column> columns = {column};
  AQ_ASSIGN(Schema schema, schema_from(columns));
  return std::unique_ptr<Decoder>(
      new RawDecoder(type, BatchBuilder(std::make_shared<const Schema>(std::move(schema)), columns)));
}

Result<void> RawDecoder::decode(std::span<const Message> messages) {
  try {
    for (const Message& message : messages) {
      const std::uint32_t index = messages_++;
      if (type_ == ValueType::text && !is_utf8(message.payload)) {
        failures_.push_back({index, "the message is not valid UTF-8; `type: blob` takes any bytes"});
        continue;
      }
      if (message.payload.data() == nullptr) {
        batch_.column(0).put_null(rows_);
      } else if (!batch_.column(0).put_bytes(rows_, message.payload)) {
        failures_.push_back({index, "the batch would hold more than 2 GiB of data; make it smaller"});
        continue;
      }
      row_message_.push_back(index);
      ++rows_;
    }
    return {};
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::limit, "no memory to decode {} messages", messages.size());
  }
}

Result<Decoded> RawDecoder::finish() {
  Decoded out;
  AQ_ASSIGN(out.batch, batch_.finish(rows_));
  if (!failures_.empty()) out.row_message = std::move(row_message_);
  out.failures = std::move(failures_);
  row_message_.clear();
  failures_.clear();
  rows_ = 0;
  messages_ = 0;
  return out;
}

}  // namespace aqueduck::raw

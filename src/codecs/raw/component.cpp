#include "codecs/raw/component.h"

#include "codecs/raw/raw_decoder.h"
#include "component/failed_decoder.h"

namespace aqueduck {
namespace {

struct RawConfig {
  raw::ValueType type = raw::ValueType::blob;
};

const config::ObjectSpec<RawConfig>& raw_spec() {
  static const config::ObjectSpec<RawConfig> spec(
      "raw", "Takes each message as one value, in the column `value`.",
      {config::choice<RawConfig>(
          "type", &RawConfig::type,
          {{"blob", raw::ValueType::blob, "BLOB: any bytes."},
           {"varchar", raw::ValueType::text, "VARCHAR: a message that isn't UTF-8 is a failure."}},
          "The type of `value`.")});
  return spec;
}

class RawFactory final : public DecoderFactory {
 public:
  explicit RawFactory(raw::ValueType type) : type_(type) {}

  std::unique_ptr<Decoder> make(const ComponentContext& /*context*/) const override {
    auto decoder = raw::RawDecoder::make(type_);
    if (!decoder) return std::make_unique<FailedDecoder>(std::move(decoder).error());
    return std::move(*decoder);
  }

 private:
  raw::ValueType type_;
};

std::unique_ptr<DecoderFactory> parse(const config::Node& node, config::Faults& faults) {
  const std::size_t before = faults.all().size();
  const RawConfig config = raw_spec().read(node, faults);
  return faults.all().size() == before ? std::make_unique<RawFactory>(config.type) : nullptr;
}

}  // namespace

const ComponentType<DecoderFactory>& raw_decoder() {
  static const ComponentType<DecoderFactory> type{&raw_spec().info(), parse, "raw: {type: varchar}\n"};
  return type;
}

}  // namespace aqueduck

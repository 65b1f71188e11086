#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "columnar/ipc.h"
#include "component/sink.h"
#include "connectors/file/file_config.h"

namespace aqueduck {

SinkTraits file_sink_traits();

/// Appends rows to one file and syncs it at every commit. Rows wait in memory until then, and are cut off again if
/// writing them failed midway. A crash can leave a torn line at the end, which open() cuts off. It locks the file: a
/// second writer's open() is a conflict. Pipes and devices take the rows as they come.
class FileSink final : public Sink {
 public:
  FileSink(FileSinkConfig config, const ComponentContext& context);
  ~FileSink() override { close(); }

  SinkTraits traits() const override { return file_sink_traits(); }
  Result<Token> open() override;
  Result<void> write(const RecordBatch& batch) override;
  Result<CommitResult> commit(const Token& expected, const Token& next) override;
  Result<void> abort() override;
  Result<Token> stored_token() override { return Token{}; }
  void close() override;

 private:
  Result<void> open_descriptor();
  Result<void> cut_torn_line();
  Result<void> resume_arrow();
  Result<void> append_arrow(const RecordBatch& batch);
  Result<void> append_csv(const RecordBatch& batch);
  Result<void> append(std::string_view bytes, std::size_t& written);
  Result<void> cut_to(off_t size);
  Error failed(std::string_view what, int code) const;

  FileSinkConfig config_;
  std::filesystem::path path_;
  FileFormat format_;
  int descriptor_ = -1;
  bool stream_ = false;  ///< no regular file: nothing can be cut off, synced or locked
  off_t committed_ = 0;
  std::string waiting_;                ///< encoded rows that aren't in the file yet
  std::string fingerprint_;            ///< of the rows' schema, csv and arrow
  std::string committed_fingerprint_;  ///< of what is in the file
  std::optional<IpcWriter> arrow_;
};

}  // namespace aqueduck

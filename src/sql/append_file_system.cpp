#include "sql/append_file_system.h"

#include <duckdb/common/file_system.hpp>
#include <map>
#include <mutex>

namespace aqueduck::sql {
namespace {

struct Offers {
  std::mutex guard;
  std::map<std::string, AppendFile*> files;
};
Offers& offers() {
  static Offers all;
  return all;
}

class AppendHandle : public duckdb::FileHandle {
 public:
  AppendHandle(duckdb::FileSystem& system, const std::string& name, duckdb::FileOpenFlags how, AppendFile& to)
      : FileHandle(system, name, how), file(to) {}
  void Close() override {}  // its owner does

  AppendFile& file;
};

/// Answers for offered paths only, so that plain paths keep their meaning in the engine's access rules and messages.
class AppendFileSystem : public duckdb::FileSystem {
 public:
  bool CanHandleFile(const std::string& path) override {
    const std::lock_guard lock(offers().guard);
    return offers().files.count(path) > 0;
  }
  duckdb::unique_ptr<duckdb::FileHandle> OpenFile(const std::string& path, duckdb::FileOpenFlags flags,
                                                  duckdb::optional_ptr<duckdb::FileOpener>) override {
    const std::lock_guard lock(offers().guard);
    const auto found = offers().files.find(path);
    if (found == offers().files.end()) throw duckdb::IOException("%s is no longer offered", path);
    return duckdb::make_uniq<AppendHandle>(*this, path, flags, *found->second);
  }
  std::int64_t Write(duckdb::FileHandle& handle, void* buffer, std::int64_t size) override {
    dynamic_cast<AppendHandle&>(handle).file.append({static_cast<const char*>(buffer), static_cast<std::size_t>(size)});
    return size;
  }
  std::int64_t GetFileSize(duckdb::FileHandle& handle) override {
    return static_cast<std::int64_t>(dynamic_cast<AppendHandle&>(handle).file.size());
  }
  duckdb::FileType GetFileType(duckdb::FileHandle&) override { return duckdb::FileType::FILE_TYPE_REGULAR; }
  void FileSync(duckdb::FileHandle&) override {}  // its owner does
  bool CanSeek() override { return false; }
  bool OnDiskFile(duckdb::FileHandle&) override { return true; }
  std::string GetName() const override { return "AqueduckAppend"; }
};

}  // namespace

void register_append_files(duckdb::DatabaseInstance& instance) {
  duckdb::FileSystem::GetFileSystem(instance).RegisterSubSystem(duckdb::make_uniq<AppendFileSystem>());
}

OfferedFile::OfferedFile(std::string path, AppendFile& file) : path_(std::move(path)) {
  const std::lock_guard lock(offers().guard);
  offers().files[path_] = &file;
}

OfferedFile::~OfferedFile() {
  const std::lock_guard lock(offers().guard);
  offers().files.erase(path_);
}

}  // namespace aqueduck::sql

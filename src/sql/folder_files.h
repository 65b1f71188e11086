#pragma once

#include <duckdb/common/local_file_system.hpp>
#include <filesystem>

namespace aqueduck::sql {

/// The machine's files for one instance of the engine, whose relative paths start at a folder of its own instead of the
/// process's: in every kind of statement (read_*, COPY, ATTACH), with several instances beside one another. Found files
/// keep the names by which they were asked for. Owned by the instance; any thread.
class FolderFiles final : public duckdb::LocalFileSystem {
 public:
  explicit FolderFiles(const std::filesystem::path& folder);

  duckdb::unique_ptr<duckdb::FileHandle> OpenFile(const duckdb::string& path, duckdb::FileOpenFlags flags,
                                                  duckdb::optional_ptr<duckdb::FileOpener> opener) override;
  bool DirectoryExists(const duckdb::string& directory, duckdb::optional_ptr<duckdb::FileOpener> opener) override;
  void CreateDirectory(const duckdb::string& directory, duckdb::optional_ptr<duckdb::FileOpener> opener) override;
  void RemoveDirectory(const duckdb::string& directory, duckdb::optional_ptr<duckdb::FileOpener> opener) override;
  void MoveFile(const duckdb::string& source, const duckdb::string& target,
                duckdb::optional_ptr<duckdb::FileOpener> opener) override;
  bool FileExists(const duckdb::string& filename, duckdb::optional_ptr<duckdb::FileOpener> opener) override;
  bool IsPipe(const duckdb::string& filename, duckdb::optional_ptr<duckdb::FileOpener> opener) override;
  void RemoveFile(const duckdb::string& filename, duckdb::optional_ptr<duckdb::FileOpener> opener) override;
  bool TryRemoveFile(const duckdb::string& filename, duckdb::optional_ptr<duckdb::FileOpener> opener) override;
  duckdb::string CanonicalizePath(const duckdb::string& path, duckdb::optional_ptr<duckdb::FileOpener> opener) override;

 protected:
  bool ListFilesExtended(const duckdb::string& directory,
                         const std::function<void(duckdb::OpenFileInfo& info)>& callback,
                         duckdb::optional_ptr<duckdb::FileOpener> opener) override;
  duckdb::unique_ptr<duckdb::MultiFileList> GlobFilesExtended(const duckdb::string& path,
                                                              const duckdb::FileGlobInput& input,
                                                              duckdb::optional_ptr<duckdb::FileOpener> opener) override;

 private:
  bool is_ours(const duckdb::string& path) const;
  duckdb::string whole(const duckdb::string& path) const;

  duckdb::string prefix_;   // the folder with a slash at its end
  duckdb::string pattern_;  // the same as a pattern that matches nothing else
};

}  // namespace aqueduck::sql

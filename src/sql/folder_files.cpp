#include "sql/folder_files.h"

#include <duckdb/common/multi_file/multi_file_list.hpp>

namespace aqueduck::sql {
namespace {

using duckdb::FileOpener;
using duckdb::optional_ptr;
using duckdb::string;

string as_pattern(const string& text) {
  string out;
  for (const char c : text) {
    if (c == '*' || c == '?' || c == '[') {
      out += {'[', c, ']'};
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

FolderFiles::FolderFiles(const std::filesystem::path& folder)
    : prefix_((folder / "").string()), pattern_(as_pattern(prefix_)) {}

// Not: absolute paths, the home folder, addresses, and the engine's own names (":memory:").
bool FolderFiles::is_ours(const string& path) const {
  return !path.empty() && path[0] != '/' && path[0] != '~' && path[0] != ':' && path.compare(0, 5, "file:") != 0 &&
         path.find("://") == string::npos;
}

string FolderFiles::whole(const string& path) const { return is_ours(path) ? prefix_ + path : path; }

duckdb::unique_ptr<duckdb::FileHandle> FolderFiles::OpenFile(const string& path, duckdb::FileOpenFlags flags,
                                                             optional_ptr<FileOpener> opener) {
  return LocalFileSystem::OpenFile(whole(path), flags, opener);
}
bool FolderFiles::DirectoryExists(const string& directory, optional_ptr<FileOpener> opener) {
  return LocalFileSystem::DirectoryExists(whole(directory), opener);
}
void FolderFiles::CreateDirectory(const string& directory, optional_ptr<FileOpener> opener) {
  LocalFileSystem::CreateDirectory(whole(directory), opener);
}
void FolderFiles::RemoveDirectory(const string& directory, optional_ptr<FileOpener> opener) {
  LocalFileSystem::RemoveDirectory(whole(directory), opener);
}
void FolderFiles::MoveFile(const string& source, const string& target, optional_ptr<FileOpener> opener) {
  LocalFileSystem::MoveFile(whole(source), whole(target), opener);
}
bool FolderFiles::FileExists(const string& filename, optional_ptr<FileOpener> opener) {
  return LocalFileSystem::FileExists(whole(filename), opener);
}
bool FolderFiles::IsPipe(const string& filename, optional_ptr<FileOpener> opener) {
  return LocalFileSystem::IsPipe(whole(filename), opener);
}
void FolderFiles::RemoveFile(const string& filename, optional_ptr<FileOpener> opener) {
  LocalFileSystem::RemoveFile(whole(filename), opener);
}
bool FolderFiles::TryRemoveFile(const string& filename, optional_ptr<FileOpener> opener) {
  return LocalFileSystem::TryRemoveFile(whole(filename), opener);
}
string FolderFiles::CanonicalizePath(const string& path, optional_ptr<FileOpener> opener) {
  return LocalFileSystem::CanonicalizePath(whole(path), opener);
}

bool FolderFiles::ListFilesExtended(const string& directory,
                                    const std::function<void(duckdb::OpenFileInfo& info)>& callback,
                                    optional_ptr<FileOpener> opener) {
  return LocalFileSystem::ListFilesExtended(whole(directory), callback, opener);
}

duckdb::unique_ptr<duckdb::MultiFileList> FolderFiles::GlobFilesExtended(const string& path,
                                                                         const duckdb::FileGlobInput& input,
                                                                         optional_ptr<FileOpener> opener) {
  if (!is_ours(path)) return LocalFileSystem::GlobFilesExtended(path, input, opener);
  auto found = LocalFileSystem::GlobFilesExtended(pattern_ + path, input, opener);
  auto files = found->GetAllFiles();
  for (auto& file : files) {
    if (file.path.compare(0, prefix_.size(), prefix_) == 0) file.path.erase(0, prefix_.size());
  }
  return duckdb::make_uniq<duckdb::SimpleMultiFileList>(std::move(files));
}

}  // namespace aqueduck::sql

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "base/result.h"

namespace aqueduck {

/// The decompressed bytes of an input, chunk by chunk, whatever size they claim to have. gzip and zstd are recognised
/// by their first bytes; several members or frames in a row are one stream. Owned by a source, on its thread.
class FileBytes {
 public:
  static Result<FileBytes> open(const std::filesystem::path& path);
  /// Takes over an open descriptor; `name` stands for the path in messages.
  static FileBytes adopt(int descriptor, std::string name);
  FileBytes(FileBytes&&) noexcept;
  FileBytes& operator=(FileBytes&&) noexcept;
  ~FileBytes();

  /// The next bytes; 0 at the end, after which more may come if the file grows (uncompressed ones only). A compressed
  /// file that ends early is an error of kind io.
  Result<std::size_t> read(std::span<char> into);
  /// Moves to `offset` of the decompressed bytes, from the beginning. False where the input is shorter.
  Result<bool> skip_to(std::uint64_t offset);
  bool compressed() const;
  std::uint64_t raw_bytes() const;  ///< read from the file so far
  int descriptor() const;

 private:
  struct State;
  explicit FileBytes(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace aqueduck

#pragma once

#include <memory>
#include <string>

namespace aqueduck::config {

/// A place in a file that a person wrote. Lines and columns count from 1; line 0 means the whole file.
struct Location {
  std::shared_ptr<const std::string> file;
  int line = 0;
  int column = 0;

  /// "pipeline.yml:12:7", "pipeline.yml", or "" where nothing is known.
  std::string to_string() const;
};

}  // namespace aqueduck::config

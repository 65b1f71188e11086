#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "component/token.h"

namespace aqueduck {

/// One commit of the Parquet sink as it stands in `_aqueduck/<pipeline>/<number>.json`: the token, and the files that
/// become visible with it. The format is described in docs/internals/parquet-sink.md.
struct Manifest {
  struct Move {
    std::string from;  ///< in the pipeline's own folder
    std::string to;    ///< in the output folder
  };
  std::uint64_t number = 0;
  std::string writer;  ///< who made it
  Token token;
  std::vector<Move> moves;

  std::string to_json() const;
  /// Errors are of kind conflict; paths that lead out of their folders are refused.
  static Result<Manifest> from_json(std::string_view text);
};

/// "12.json" → 12; 0 for every other name.
std::uint64_t manifest_number(std::string_view file_name);

}  // namespace aqueduck

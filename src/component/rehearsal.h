#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "columnar/schema.h"

namespace aqueduck {

class SinkFactory;

/// What a sink holds, read back: rows, or the text of a file that keeps no types of its own.
struct SinkContents {
  enum class Form { rows, json_lines, csv };
  Form form = Form::rows;
  std::vector<RecordBatch> rows;
  std::string text;
};

/// A sink as `aqueduck test` runs it: the same code, but all that it writes lies below a folder, and can be read back.
struct Rehearsal {
  std::unique_ptr<SinkFactory> sink;               ///< null: the sink has nothing to rehearse
  std::function<Result<SinkContents>()> contents;  ///< once the sink is closed; null: only SQL can tell
};

/// Where a path of the configuration lies in a rehearsal: a relative one as it is; one that is absolute, or leads out
/// of the pipeline's folder, below `outside/`. Makes the folder that it lies in.
std::filesystem::path rehearsal_path(const std::filesystem::path& folder, const std::filesystem::path& path);

}  // namespace aqueduck

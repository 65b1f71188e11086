#pragma once

#include "component/registry.h"

namespace aqueduck {

/// `file: {path: data/*.jsonl}`: lines or rows of files.
const ComponentType<SourceFactory>& file_source();
/// `file: {path: out.jsonl}`: appends rows to a file.
const ComponentType<SinkFactory>& file_sink();

}  // namespace aqueduck

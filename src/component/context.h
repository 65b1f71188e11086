#pragma once

#include <filesystem>
#include <string>

namespace aqueduck {

namespace sql {
class Database;
}

/// What a component may know about where it runs. Lives as long as the component.
struct ComponentContext {
  std::string pipeline;               ///< its name, for tokens, groups and messages
  std::filesystem::path directory;    ///< of the pipeline's file: relative paths start here
  std::filesystem::path state;        ///< the pipeline's state folder; empty where there is none
  sql::Database* database = nullptr;  ///< the pipeline's engine; null under `check` where it isn't needed
  int worker = 0;                     ///< this worker of …
  int workers = 1;                    ///< … so many: a source takes the partitions that are this worker's
};

}  // namespace aqueduck

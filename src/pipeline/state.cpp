#include "pipeline/state.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"

namespace aqueduck::pipeline {
namespace {

Result<void> read_positions(const nlohmann::json& json, const char* key, Positions& out) {
  const auto found = json.find(key);
  if (found == json.end()) return {};
  if (!found->is_object()) return fail(ErrorKind::conflict, "'{}' is not an object", key);
  for (const auto& [partition, position] : found->items()) {
    if (!position.is_string()) return fail(ErrorKind::conflict, "'{}.{}' is not a text", key, partition);
    out.insert_or_assign(partition, position.get<std::string>());
  }
  return {};
}

void put(const Positions& from, Positions& into) {
  for (const auto& [partition, position] : from) into.insert_or_assign(partition, position);
}

}  // namespace

Result<std::unique_ptr<StateFile>> StateFile::open(const std::filesystem::path& folder, const std::string& pipeline) {
  auto state = std::make_unique<StateFile>();
  state->folder_ = folder;
  state->pipeline_ = pipeline;
  if (folder.empty()) return state;
  AQ_TRY(make_folders(folder));
  const auto path = folder / "state.json";
  if (!std::filesystem::exists(path)) return state;
  AQ_ASSIGN(const std::string text, read_file(path));
  const auto damaged = [&](const std::string& why) {
    return fail(ErrorKind::conflict, "{}: {}; move the file away to start afresh", path.string(), why);
  };
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return damaged("not a JSON object");
  if (json.value("version", nlohmann::json()) != kVersion) return damaged("not version 1 of the state format");
  const auto owner = json.value("pipeline", nlohmann::json());
  if (owner != pipeline)
    return damaged("it is the state of pipeline " + owner.dump() + ", not of \"" + pipeline + "\"");
  const auto schema = json.value("decoder_schema", nlohmann::json(""));
  if (!schema.is_string()) return damaged("'decoder_schema' is not a text");
  state->decoder_schema_ = schema.get<std::string>();
  for (const auto& [key, out] :
       {std::pair{"starts", &state->starts_}, std::pair{"acknowledged", &state->acknowledged_}}) {
    if (auto read = read_positions(json, key, *out); !read) return damaged(read.error().message);
  }
  state->earlier_starts_ = state->starts_;
  return state;
}

std::string StateFile::decoder_schema() const {
  const std::lock_guard lock(mutex_);
  return decoder_schema_;
}

Positions StateFile::acknowledged() const {
  const std::lock_guard lock(mutex_);
  return acknowledged_;
}

Result<void> StateFile::save_decoder_schema(std::string schema) {
  const std::lock_guard lock(mutex_);
  decoder_schema_ = std::move(schema);
  return save();
}

Result<void> StateFile::save_starts(const Positions& starts) {
  const std::lock_guard lock(mutex_);
  const auto known = [&](const auto& start) {
    const auto found = starts_.find(start.first);
    return found != starts_.end() && found->second == start.second;
  };
  if (std::all_of(starts.begin(), starts.end(), known)) return {};
  put(starts, starts_);
  return save();
}

Result<void> StateFile::save_acknowledged(const Positions& positions) {
  const std::lock_guard lock(mutex_);
  put(positions, acknowledged_);
  return save();
}

Result<void> StateFile::save() const {
  if (folder_.empty()) return {};
  const nlohmann::ordered_json json = {{"version", kVersion},
                                       {"pipeline", pipeline_},
                                       {"decoder_schema", decoder_schema_},
                                       {"starts", starts_},
                                       {"acknowledged", acknowledged_}};
  return replace_file(folder_ / "state.json",
                      json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

Result<LockFile> lock_state(const std::filesystem::path& folder) {
  if (folder.empty()) return LockFile();
  AQ_TRY(make_folders(folder));
  auto lock = LockFile::take(folder / "lock");
  if (lock || lock.error().kind != ErrorKind::conflict) return lock;
  return fail(ErrorKind::conflict,
              "the state folder {} is in use ({}): two runs over one state lose rows; stop the other one, or give this "
              "one a folder and a sink of its own",
              folder.string(), lock.error().message);
}

}  // namespace aqueduck::pipeline

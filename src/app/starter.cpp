#include "app/starter.h"

#include <algorithm>

#include "config/loader.h"
#include "pipeline/definition.h"

namespace aqueduck::app {
namespace {

// What stands for source and SQL, and the case that tests it.
struct Subject {
  std::string source;
  std::string decode;
  std::string sql;
  std::string expected;
};

constexpr std::string_view kInput =
    "{\"id\": 1, \"city\": \"Rome\", \"ms\": 37}\n{\"id\": 2, \"city\": \"Oslo\", \"ms\": 95}\n";

Subject made_up_rows() {
  return {
      "  # Makes up 100 rows, the same at every run. `aqueduck list sources` shows what else there is.\n"
      "  generator:\n"
      "    rows: 100\n"
      "    columns:\n"
      "      id: i\n"
      "      city: \"['Rome', 'Oslo', 'Lima'][1 + i % 3]\"\n"
      "      ms: i * 37 % 100\n",
      "",
      "  SELECT id, upper(city) AS city, ms\n"
      "  FROM batch\n"
      "  WHERE ms >= 80\n",
      "{\"id\":2,\"city\":\"OSLO\",\"ms\":95}\n"};
}

std::string indented(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += fmt::format("  {}\n", text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

template <typename F>
Result<const ComponentType<F>*> find(const std::vector<ComponentType<F>>& types, const std::string& name,
                                     std::string_view what) {
  std::vector<std::string_view> names;
  for (const auto& type : types) {
    if (type.info->name == name) return &type;
    names.push_back(type.info->name);
  }
  std::string hint = config::did_you_mean(name, names);
  if (hint.empty()) hint = fmt::format("; there is {}", fmt::join(names, ", "));
  return fail(ErrorKind::config, "there is no {} '{}'{}", what, name, hint);
}

Result<Subject> subject_of(const Registry& registry, const std::string& source) {
  if (source == "generator") return made_up_rows();
  AQ_ASSIGN(const auto* type, find(registry.sources, source, "source"));
  Subject subject;
  subject.source = fmt::format("  # {} All settings: aqueduck docs sources/{}\n{}", type->info->summary, source,
                               indented(type->example));
  subject.decode =
      "# How messages become rows (`aqueduck list decoders`). A declared schema lets `aqueduck check` check the SQL;\n"
      "# without one columns are inferred from the first batch.\n"
      "# decode:\n"
      "#   json: {schema: {id: BIGINT, city: VARCHAR}}\n\n";
  subject.sql = "  SELECT *\n  FROM batch\n";
  subject.expected = "{\"id\":1,\"city\":\"Rome\",\"ms\":37}\n{\"id\":2,\"city\":\"Oslo\",\"ms\":95}\n";
  return subject;
}

std::string pipeline_text(const std::string& name, const Subject& subject, const std::string& sink) {
  return fmt::format(
      "# A pipeline: rows come from a source, go through SQL batch by batch, and on to a sink.\n"
      "#   aqueduck check {0}.yml           is everything in it right?\n"
      "#   aqueduck run {0}.yml             run it\n"
      "#   aqueduck docs pipeline{1}          every key of this file\n"
      "# `aqueduck schema > pipeline.schema.json` lets editors complete it, by this line:\n"
      "# yaml-language-server: $schema=pipeline.schema.json\n\n"
      "pipeline: {0}\n\n"
      "# SQL that runs once, before anything starts: tables to join with, settings.\n"
      "# setup:\n"
      "#   - ATTACH 'cities.duckdb' AS dim (READ_ONLY)\n\n"
      "source:\n{2}\n"
      "{3}"
      "# When a batch is handed to the SQL: at whichever comes first.\n"
      "# batch: {{rows: 122_880, bytes: 64MiB, interval: 1s}}\n\n"
      "# DuckDB SQL over the relation `batch`. Without it rows pass as they are.\n"
      "sql: |\n{4}\n"
      "sink:\n{5}\n"
      "# What happens to messages that can't be decoded: fail, skip, or dead_letter.\n"
      "# errors: {{decode: dead_letter, dead_letter: {{file: {{path: dead.jsonl}}}}}}\n",
      name, std::string(name.size() > 2 ? name.size() - 2 : 0, ' '), subject.source, subject.decode, subject.sql, sink);
}

std::string case_text(const std::string& name, const Subject& subject) {
  return fmt::format(
      "# A case of `aqueduck test`: input.jsonl goes through this SQL and must come out as expected.jsonl.\n"
      "# Keep the SQL the same as in {0}.yml.\n"
      "pipeline: {0}\n"
      "source:\n"
      "  file: {{path: input.jsonl}}\n"
      "decode:\n"
      "  json: {{schema: {{id: BIGINT, city: VARCHAR, ms: BIGINT}}}}\n"
      "sql: |\n{1}"
      "sink:\n"
      "  console: {{format: jsonl}}\n",
      name, subject.sql);
}

Result<void> check(const Registry& registry, const StarterFile& file) {
  config::Faults faults;
  const auto node = config::load_text(file.text, file.path, config::process_environment(), faults);
  if (node) pipeline::read_definition(*node, file.path, registry, faults);
  if (!faults.empty()) return fail(faults.to_error());
  return {};
}

}  // namespace

Result<std::vector<StarterFile>> starter(const Registry& registry, const std::string& name, const std::string& source,
                                         const std::string& sink) {
  AQ_ASSIGN(const Subject subject, subject_of(registry, source));
  AQ_ASSIGN(const auto* type, find(registry.sinks, sink, "sink"));
  const std::string sink_text = fmt::format("  # {} All settings: aqueduck docs sinks/{}\n{}", type->info->summary,
                                            sink, sink == "console" ? "  console: {}\n" : indented(type->example));
  const std::string folder = "tests/" + name + "/";
  std::vector<StarterFile> files = {{name + ".yml", pipeline_text(name, subject, sink_text)},
                                    {folder + "pipeline.yml", case_text(name, subject)},
                                    {folder + "input.jsonl", std::string(kInput)},
                                    {folder + "expected.jsonl", subject.expected}};
  AQ_TRY(check(registry, files[0]));
  AQ_TRY(check(registry, files[1]));
  return files;
}

}  // namespace aqueduck::app

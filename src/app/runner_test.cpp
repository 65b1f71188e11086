#include "pipeline/runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/file.h"
#include "builtin/builtin.h"

namespace aqueduck::pipeline {
namespace {

namespace fs = std::filesystem;

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() {
    std::string name = (fs::temp_directory_path() / "aqueduck-runner-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~RunnerTest() override { fs::remove_all(folder); }

  void put(const std::string& name, const std::string& text) { std::ofstream(folder / name) << text; }
  /// Loads `text` as a pipeline's file; faults fail the test.
  void load(const std::string& text) {
    put("p.yml", text);
    auto loaded = load_definition(folder / "p.yml", builtin_registry(), {});
    ASSERT_TRUE(loaded) << loaded.error().message;
    definition = std::make_unique<Definition>(std::move(*loaded));
  }
  tl::expected<void, Failure> run(RunLimits limits = {}) {
    runner = std::make_unique<Runner>(*definition, limits);
    return runner->run();
  }
  std::vector<std::string> lines(const std::string& name) {
    std::ifstream in(folder / name);
    std::vector<std::string> out;
    for (std::string line; std::getline(in, line);) out.push_back(line);
    std::sort(out.begin(), out.end());
    return out;
  }

  fs::path folder;
  std::unique_ptr<Definition> definition;
  std::unique_ptr<Runner> runner;
};

TEST_F(RunnerTest, WorkersTogetherMakeTheRowsOfOne) {
  const std::string text =
      "pipeline: p\n"
      "source: {generator: {rows: 5000, batch: 100, columns: {id: i, v: random()}}}\n"
      "batch: {rows: 100}\n"
      "sink: {file: {path: out.jsonl}}\n";
  load("workers: 1\n" + text);
  ASSERT_TRUE(run());
  const auto one = lines("out.jsonl");
  fs::remove(folder / "out.jsonl");
  load("workers: 3\n" + text);
  auto result = run();
  ASSERT_TRUE(result) << result.error().error.message;
  EXPECT_EQ(one.size(), 5000U);
  EXPECT_EQ(lines("out.jsonl"), one);
  EXPECT_EQ(runner->snapshot().messages, 5000U);
}

TEST_F(RunnerTest, WorkersShareTheColumnsThatOneInferred) {
  for (int file = 0; file < 4; ++file) {
    std::string text;
    for (int row = 0; row < 50; ++row) {
      text +=
          "{\"id\":" + std::to_string(file * 50 + row) + (row > 25 ? ",\"late" + std::to_string(file) + "\":1" : "");
      text += "}\n";
    }
    put("in" + std::to_string(file) + ".jsonl", text);
  }
  load(
      "pipeline: p\nworkers: 2\nstate: ./state\nbatch: {rows: 10}\n"
      "source: {file: {path: 'in*.jsonl'}}\n"
      "sink: {noop: {}}\n");
  auto result = run();
  ASSERT_TRUE(result) << result.error().error.message;
  EXPECT_EQ(runner->snapshot().rows_written, 200U);
  const std::string state = read_file(folder / "state" / "state.json").value();
  for (const char* name : {"id", "late0", "late1", "late2", "late3"}) {
    EXPECT_NE(state.find("\\\"" + std::string(name) + "\\\""), std::string::npos) << name << ": " << state;
  }
}

TEST_F(RunnerTest, MaxMessagesCountsOverAllWorkers) {
  load(
      "pipeline: p\nworkers: 4\nbatch: {rows: 10}\n"
      "source: {generator: {batch: 10, columns: {id: i}}}\n"
      "sink: {noop: {}}\n");
  RunLimits limits;
  limits.max_messages = 1001;
  ASSERT_TRUE(run(limits));
  EXPECT_EQ(runner->snapshot().messages, 1001U);
}

TEST_F(RunnerTest, AWorkerThatFailsEndsTheOthers) {
  load(
      "pipeline: p\nworkers: 2\nbatch: {rows: 10}\n"
      "source: {generator: {batch: 10, columns: {id: i}}}\n"
      "sql: SELECT CASE WHEN id = 501 THEN error('five hundred and one') ELSE id END AS id FROM batch\n"
      "sink: {noop: {}}\n");
  auto result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ExitCode::stopped);
  EXPECT_NE(result.error().error.message.find("five hundred and one"), std::string::npos);
}

TEST_F(RunnerTest, EveryWorkersConnectionHasTheSettingsOfSetup) {
  load(
      "pipeline: p\nworkers: 2\nbatch: {rows: 10}\n"
      "setup: [CREATE SCHEMA s, 'CREATE TABLE s.names AS SELECT 1 AS one', USE s, \"SET default_null_order = "
      "'nulls_first'\"]\n"
      "source: {generator: {rows: 100, batch: 10, columns: {id: i}}}\n"
      "sql: SELECT id, one, current_setting('default_null_order') AS o FROM batch, names\n"
      "sink: {file: {path: out.jsonl}}\n");
  auto result = run();
  ASSERT_TRUE(result) << result.error().error.message;
  const auto out = lines("out.jsonl");
  ASSERT_EQ(out.size(), 100U);
  for (const auto& line : out) EXPECT_NE(line.find("NULLS_FIRST"), std::string::npos) << line;
}

TEST_F(RunnerTest, TemporaryTablesOfSetupAreAFaultWithSeveralWorkers) {
  load(
      "pipeline: p\nworkers: 2\n"
      "setup: [CREATE TEMP TABLE t AS SELECT 1]\n"
      "source: {generator: {rows: 1, columns: {id: i}}}\n"
      "sink: {noop: {}}\n");
  auto result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ExitCode::config);
  EXPECT_NE(result.error().error.message.find("p.yml:3"), std::string::npos) << result.error().error.message;
}

TEST_F(RunnerTest, NotesSayWhatSeveralWorkersMean) {
  load(
      "pipeline: p\nworkers: 2\nsetup: [CREATE TABLE t (n BIGINT)]\n"
      "source: stdin\n"
      "sql: INSERT INTO t SELECT 1 FROM batch\n"
      "sink: {noop: {}}\n");
  Runner checked(*definition, {});
  ASSERT_TRUE(checked.prepare());
  EXPECT_EQ(checked.notes().size(), 2U);
}

TEST_F(RunnerTest, DeadLettersAreCommittedBeforeTheyFillTheMemory) {
  std::string messages;
  for (int i = 0; i < 200; ++i) messages += i % 10 == 0 ? std::string(3'000, 'x') + "\n" : "{\"a\":1}\n";
  put("in.jsonl", messages);
  load(
      "pipeline: p\nsource: {file: {path: in.jsonl}}\nbatch: {rows: 10, bytes: 5KiB}\nsink: {noop: {}, commit: "
      "{interval: 1h}}\n"
      "errors: {decode: dead_letter, dead_letter: {file: {path: dead.jsonl}}}\n");
  ASSERT_TRUE(run());
  EXPECT_EQ(lines("dead.jsonl").size(), 20U);
  EXPECT_GE(runner->snapshot().commits, 10U);
}

TEST_F(RunnerTest, SqlMustNotAttachTheFileOfASink) {
  const auto refused = [&](const std::string& setup, const std::string& sql, const std::string& rest) {
    load("pipeline: p\nsetup:\n- " + setup + "\nsource: {generator: {rows: 1, columns: {id: i}}}\nsql: " + sql + "\n" +
         rest);
    const auto result = run();
    EXPECT_EQ(result ? ExitCode::done : result.error().code, ExitCode::config);
    return result ? "" : result.error().error.message;
  };
  const std::string sink = "sink: {duckdb: {path: out.duckdb, table: t}}\n";
  const std::string select = "SELECT * FROM batch";
  const std::string at = (folder / "p.yml").string();
  const auto place = [](const std::string& message) { return message.substr(0, message.find(": '")); };
  EXPECT_EQ(place(refused("SELECT 1; ATTACH 'out.duckdb' AS o", select, sink)), at + ":3:3");
  EXPECT_FALSE(fs::exists(folder / "out.duckdb"));
  EXPECT_EQ(place(refused("ATTACH IF NOT EXISTS 'sub/../out.duckdb' (READ_ONLY)", select, sink)), at + ":3:3");
  EXPECT_EQ(place(refused("ATTACH 'duckdb:" + (folder / "out.duckdb").string() + "' AS o", select, sink)), at + ":3:3");
  EXPECT_EQ(place(refused("SELECT 1", "ATTACH 'out.duckdb' AS o; " + select, sink)), at + ":5:6");
  const std::string letters =
      "errors: {sql: dead_letter, dead_letter: {duckdb: {path: out.duckdb, table: t}}}\nsink: {noop: {}}\n";
  EXPECT_NE(refused("ATTACH 'out.duckdb' AS o", select, letters).find("the dead-letter sink"), std::string::npos);
  load("pipeline: p\nsetup: [\"ATTACH 'other.duckdb' AS o\"]\nsource: {generator: {rows: 1, columns: {id: i}}}\n" +
       sink);
  EXPECT_TRUE(run());
}

}  // namespace
}  // namespace aqueduck::pipeline

#include "golden/suite.h"

#include <gtest/gtest.h>

#include "columnar/ipc.h"
#include "golden/case.h"
#include "golden/memory_source.h"
#include "tests/support/batches.h"

namespace aqueduck::golden {
namespace {

struct Nothing {};

const config::ObjectInfo& nothing_info() {
  static const config::ObjectSpec<Nothing> spec("unused", "Never run: the case's input and memory stand in.", {});
  return spec.info();
}

class UnusedSource final : public SourceFactory {
 public:
  std::unique_ptr<Source> make(const ComponentContext& /*context*/) const override {
    static const Input nothing;
    static FakeClock clock;
    return std::make_unique<MemorySource>(nothing, std::vector<ClockStep>(), clock);
  }
  bool gives_rows() const override { return true; }
};

class UnusedSink final : public SinkFactory {
 public:
  std::unique_ptr<Sink> make(const ComponentContext& /*context*/) const override { return nullptr; }
  SinkTraits traits() const override { return {}; }
};

class SuiteTest : public ::testing::Test {
 protected:
  SuiteTest() {
    registry.sources = {
        {&nothing_info(), [](const config::Node&, config::Faults&) { return std::make_unique<UnusedSource>(); }, ""}};
    registry.sinks = {
        {&nothing_info(), [](const config::Node&, config::Faults&) { return std::make_unique<UnusedSink>(); }, ""}};
    std::string bytes;
    const RecordBatch batch = testing::id_name_batch(1, 5);
    auto writer = IpcWriter::open(*batch.schema, [&](std::string_view part) -> Result<void> {
      bytes += part;
      return {};
    });
    EXPECT_TRUE(writer && writer->write(batch) && writer->finish());
    put("input.arrow", bytes);
  }

  void put(const std::string& name, std::string_view text) { testing::write_text(folder.path() / name, text); }
  void pipeline(const std::string& rest) { put("pipeline.yml", "pipeline: p\nsource: unused\nsink: unused\n" + rest); }
  std::string run(bool update = false) { return run_case(folder.path(), registry, update).report; }

  testing::TemporaryFolder folder;
  Registry registry;
};

constexpr char kAllIds[] = "{\"id\":2}\n{\"id\":1}\n{\"id\":3}\n{\"id\":4}\n{\"id\":5}\n";

TEST_F(SuiteTest, RowsInAnyOrderPass) {
  pipeline("batch: {rows: 2}\nsql: SELECT id FROM batch\n");
  put("expected.jsonl", kAllIds);
  EXPECT_EQ(run(), "");
}

TEST_F(SuiteTest, OrderCountsWhereTheCaseSaysSo) {
  pipeline("sql: SELECT id FROM batch\n");
  put("expected.jsonl", kAllIds);
  put("case.yml", "ordered: true\n");
  EXPECT_NE(run().find("from row 1 on"), std::string::npos) << run();
}

TEST_F(SuiteTest, OtherTypesAreShownAsADifference) {
  pipeline("sql: SELECT id::DOUBLE AS id FROM batch WHERE id = 1\n");
  put("expected.jsonl", "{\"id\":1}\n");
  const std::string report = run();
  EXPECT_NE(report.find("- {\"id\":1}\n"), std::string::npos) << report;
  EXPECT_NE(report.find("+ {\"id\":1.0}\n"), std::string::npos) << report;
}

TEST_F(SuiteTest, UpdateWritesSortedRows) {
  pipeline("sql: SELECT id FROM batch ORDER BY id DESC\n");
  EXPECT_NE(run().find("--update"), std::string::npos);
  EXPECT_EQ(run(true), "");
  EXPECT_EQ(testing::read_text(folder.path() / "expected.jsonl"),
            "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n{\"id\":4}\n{\"id\":5}\n");
  EXPECT_EQ(run(), "");
}

TEST_F(SuiteTest, ARestartThatChangesRowsFails) {
  pipeline(
      "setup: [CREATE TABLE seen (id BIGINT)]\nbatch: {rows: 2}\n"
      "sql: INSERT INTO seen SELECT id FROM batch; SELECT count(*) AS n FROM seen\n");
  put("expected.jsonl", "{\"n\":2}\n{\"n\":4}\n{\"n\":5}\n");
  EXPECT_NE(run().find("after a restart (stopped after commit 1 of 3)"), std::string::npos) << run();
  put("case.yml", "restart: false\nwhy: the engine's tables are gone after it\n");
  EXPECT_EQ(run(), "");
}

TEST_F(SuiteTest, AOneBatchCaseIsStoppedBeforeItsCommit) {
  pipeline("sql: SELECT count(*) AS n FROM batch\n");
  put("expected.jsonl", "{\"n\":5}\n");
  EXPECT_EQ(run(), "");
}

TEST_F(SuiteTest, AOneBatchCaseRunsItsSqlTwiceAndDeliversOnce) {
  pipeline(
      "setup: [\"ATTACH '${SIDE}' AS side\", CREATE TABLE IF NOT EXISTS side.t (id BIGINT)]\n"
      "sql: INSERT INTO side.t SELECT id FROM batch; SELECT count(*) AS n FROM batch\n");
  put("case.yml", "env: {SIDE: '${SCRATCH}/side.duckdb'}\n");
  put("expected.jsonl", "{\"n\":5}\n");
  EXPECT_EQ(run(), "");
  put("case.yml", "env: {SIDE: '${SCRATCH}/side.duckdb'}\nquery: SELECT count(*) AS n FROM side.t\n");
  const std::string report = run();
  EXPECT_NE(report.find("after a restart (stopped before its first commit)"), std::string::npos) << report;
  EXPECT_NE(report.find("+ {\"n\":10}"), std::string::npos) << report;
}

TEST_F(SuiteTest, AnExpectedErrorComesAgainAfterTheFailureAndAfterAStop) {
  pipeline("batch: {rows: 2}\nsql: SELECT CASE WHEN id = 5 THEN error('no 5') ELSE id END AS id FROM batch\n");
  put("case.yml", "errors: {exit: 1, contains: [no 5]}\n");
  put("expected.jsonl", "{\"id\":\"1\"}\n");
  EXPECT_EQ(run(true), "");
}

TEST_F(SuiteTest, AnErrorThatDoesNotComeAgainFails) {
  const std::string attach = "setup: [\"ATTACH '${SIDE}' AS side\", CREATE TABLE IF NOT EXISTS side.t (id BIGINT)]\n";
  const std::string sql =
      "sql: INSERT INTO side.t SELECT id FROM batch; "
      "SELECT CASE WHEN id = 5 AND (SELECT count(*) FROM side.t WHERE id = 5) < 2 THEN error('first time') END AS id "
      "FROM batch\n";
  put("case.yml", "env: {SIDE: '${SCRATCH}/side.duckdb'}\nerrors: {exit: 1, contains: [first time]}\n");
  pipeline(attach + "batch: {rows: 1}\n" + sql);
  EXPECT_NE(run().find("started again after the failure:"), std::string::npos) << run();
  put("case.yml",
      "env: {SIDE: '${SCRATCH}/side.duckdb'}\nerrors: {exit: 1, contains: [first time]}\n"
      "restart: false\nwhy: it fails once\n");
  EXPECT_EQ(run(), "");
}

TEST_F(SuiteTest, TheClockFiresIntervals) {
  pipeline("batch: {interval: 5s}\nsql: SELECT count(*) AS n FROM batch\n");
  put("case.yml", "clock: [{messages: 2, advance: 5s}, {messages: 3, advance: 4s}]\n");
  put("expected.jsonl", "{\"n\":2}\n{\"n\":3}\n");
  EXPECT_EQ(run(), "");
}

TEST_F(SuiteTest, ExpectedErrorsMustComeAsSaid) {
  pipeline("sql: SELECT nme FROM batch\n");
  put("case.yml", "errors: {exit: 10, contains: [nme, 'pipeline.yml:4:13'], lacks: [secret]}\n");
  EXPECT_EQ(run(), "");
  put("case.yml", "errors: {exit: 1, contains: [nowhere], lacks: [nme]}\n");
  const std::string report = run();
  EXPECT_NE(report.find("exit code 1 expected, got 10"), std::string::npos) << report;
  EXPECT_NE(report.find("the error lacks: nowhere"), std::string::npos) << report;
  EXPECT_NE(report.find("the error contains: nme"), std::string::npos) << report;
}

TEST_F(SuiteTest, AnErrorThatDoesNotComeFails) {
  pipeline("");
  put("case.yml", "errors: {exit: 10}\n");
  EXPECT_NE(run().find("but it ended well"), std::string::npos) << run();
}

TEST_F(SuiteTest, ColumnsAreComparedAsTypes) {
  pipeline("sql: SELECT id, id::DECIMAL(10,2) AS d FROM batch\n");
  EXPECT_EQ(run(true), "");
  put("case.yml", "columns: {id: int8, d: 'NUMERIC(10,2)'}\n");
  EXPECT_EQ(run(), "");
  put("case.yml", "columns: {id: BIGINT, d: DOUBLE}\n");
  EXPECT_NE(run().find("- d: DOUBLE\n"), std::string::npos) << run();
}

TEST_F(SuiteTest, FaultsOfTheCaseNameTheirPlace) {
  pipeline("");
  put("case.yml", "orderd: true\nrestart: false\n");
  const std::string report = run();
  EXPECT_NE(report.find("case.yml:1:1"), std::string::npos) << report;
  EXPECT_NE(report.find("did you mean 'ordered'"), std::string::npos) << report;
  EXPECT_NE(report.find("case.yml:2:10"), std::string::npos) << report;
}

TEST_F(SuiteTest, AQueryIsComparedInPlaceOfTheRows) {
  pipeline("batch: {rows: 2}\nsql: SELECT id FROM batch\n");
  put("case.yml", "query: SELECT sum(id)::BIGINT AS total FROM sink\ncolumns: {total: BIGINT}\n");
  put("expected.jsonl", "{\"total\":15}\n");
  EXPECT_EQ(run(), "");
  put("case.yml", "query: SELECT nothing FROM sink\n");
  EXPECT_NE(run().find("query: Referenced column \"nothing\""), std::string::npos) << run();
}

TEST_F(SuiteTest, ATableOfTheSinksNameIsAnotherOne) {
  pipeline("sql: SELECT id FROM batch\n");
  put("case.yml", "query: SELECT id FROM side.sink\n");
  put("expected.jsonl", "");
  EXPECT_NE(run().find("side"), std::string::npos) << "not the relation: " << run();
}

TEST_F(SuiteTest, AQueryFindsWhatTheSetupAttached) {
  pipeline(
      "setup: [\"ATTACH '${SIDE}' AS side\", CREATE TABLE IF NOT EXISTS side.t (id BIGINT)]\n"
      "batch: {rows: 2}\nsql: INSERT INTO side.t SELECT id FROM batch\n");
  put("case.yml",
      "env: {SIDE: '${SCRATCH}/side.duckdb'}\nquery: SELECT id FROM side.t\nrestart: false\nwhy: SQL writes\n");
  put("expected.jsonl", kAllIds);
  EXPECT_EQ(run(), "");
}

TEST_F(SuiteTest, ASinkThatCannotBeRehearsedIsNotRun) {
  pipeline("");
  put("case.yml", "sink: real\n");
  put("expected.jsonl", "");
  EXPECT_NE(run().find("the sink 'unused' leaves nothing to compare"), std::string::npos) << run();
}

TEST_F(SuiteTest, NoFileOfACaseIsPassedOverSilently) {
  pipeline("sql: SELECT id FROM batch\n");
  put("expected.jsonl", kAllIds);
  const auto refused = [&](const std::string& name, const std::string& message) {
    put(name, "");
    EXPECT_NE(run().find(message), std::string::npos) << name << run();
    std::filesystem::remove(folder.path() / name);
    EXPECT_EQ(run(), "");
  };
  refused("case.yaml", "rename it to case.yml");
  refused("expected.csv", "there are expected.csv and expected.jsonl");
  refused("expected.json", "would be compared with nothing");
  refused("input.jsonl", "a case has one input");
  refused("input.yaml", "no input is called so");
  std::filesystem::create_directory(folder.path() / "input.csv");
  EXPECT_NE(run().find("input.csv is no file"), std::string::npos) << run();
}

TEST_F(SuiteTest, ACaseWithoutAPipelineFails) {
  for (const std::string name : {"ok", "lost", "link"}) std::filesystem::create_directories(folder.path() / name);
  put("ok/pipeline.yml", "");
  put("lost/expected.jsonl", "");
  std::filesystem::create_symlink("../nowhere.yml", folder.path() / "link/pipeline.yml");
  const auto all = find_cases({folder.path()}, "");
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 3U);
  EXPECT_NE(run_case(folder.path() / "lost", registry, false).report.find("there is no "), std::string::npos);
  EXPECT_NE(run_case(folder.path() / "link", registry, false).report.find("the link leads nowhere"), std::string::npos);
}

TEST_F(SuiteTest, EveryLineOfAReportIsIndented) {
  pipeline("");
  put("case.yml", "orderd: true\nrestart: false\n");
  EXPECT_NE(run().find("\n  " + (folder.path() / "case.yml:2").string()), std::string::npos) << run();
}

TEST_F(SuiteTest, CasesAreFoundBelowAFolderAndFiltered) {
  for (const std::string name : {"b/deep", "a", "none"}) std::filesystem::create_directories(folder.path() / name);
  put("a/pipeline.yml", "");
  put("b/deep/pipeline.yml", "");
  const auto all = find_cases({folder.path()}, "");
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ(all->front().filename(), "a");
  EXPECT_EQ(find_cases({folder.path()}, "deep")->size(), 1U);
  EXPECT_FALSE(find_cases({folder.path() / "absent"}, ""));
}

TEST_F(SuiteTest, ResultsComeInOrderFromManyThreads) {
  std::vector<std::filesystem::path> cases;
  for (int i = 0; i < 6; ++i) {
    const auto path = folder.path() / ("c" + std::to_string(i));
    std::filesystem::create_directories(path);
    cases.push_back(path);
  }
  std::vector<std::string> names;
  run_cases(cases, registry, {false, 3}, [&](const CaseResult& result) { names.push_back(result.name); });
  ASSERT_EQ(names.size(), 6U);
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(names[i], cases[i].string());
}

}  // namespace
}  // namespace aqueduck::golden

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "connectors/file/file_sink.h"
#include "connectors/file/file_source.h"
#include "sql/database.h"
#include "tests/support/conformance_sink.h"
#include "tests/support/conformance_source.h"
#include "tests/support/file_size_limit.h"

namespace aqueduck {
namespace {

using conformance::check_sink;
using conformance::check_source;
using conformance::drain;
using conformance::limits;
using conformance::texts;
using testing::read_text;
using testing::split_lines;
using testing::TemporaryFolder;
using testing::write_text;

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

struct FileTest : ::testing::Test {
  TemporaryFolder folder;
  ComponentContext context;
  FileSourceConfig config;

  FileTest() { context.directory = folder.path(); }
  std::unique_ptr<Source> source() const { return std::make_unique<FileSource>(config, context); }
  std::filesystem::path at(const std::string& name) const { return folder.path() / name; }
  static std::function<conformance::Heal()> moved_away(const std::filesystem::path& path) {
    return [path] {
      const auto aside = path.parent_path().string() + "-aside";
      std::filesystem::rename(path, aside);
      return [path, aside] { std::filesystem::rename(aside, path); };
    };
  }
  /// `last`: a file that is opened only after a chunk was read of another one.
  conformance::SourceUnderTest under_test(std::vector<std::string> expected, const std::string& only,
                                          const std::string& last = "") const {
    conformance::Asked<conformance::SourceFault> dies = conformance::Inapplicable{"a file that is open stays readable"};
    if (!last.empty()) dies = conformance::SourceFault{moved_away(at(last)), ErrorKind::io};
    const auto follow = [this] {
      put("waits/empty.jsonl", "");
      FileSourceConfig waiting;
      waiting.path = {"waits/empty.jsonl"};
      waiting.follow = true;
      return std::make_unique<FileSource>(waiting, context);
    };
    std::filesystem::create_directories(at("waits"));
    return {[this] { return source(); },
            std::move(expected),
            true,
            {{moved_away(at(only)), ErrorKind::io}},
            dies,
            {follow}};
  }
  void put(const std::string& name, std::string_view text, bool append = false) const {
    write_text(folder.path() / name, text, append);
  }
};

TEST_F(FileTest, LinesOfSeveralFilesConform) {
  put("b.jsonl", "4\r\n5\n\n6");
  put("a.jsonl", "1\n2\n3\n");
  put("empty.jsonl", "");
  config.path = {"a.jsonl", "b.jsonl", "empty.jsonl"};
  check_source(under_test({"1", "2", "3", "4", "5", "6"}, "a.jsonl", "b.jsonl"));
}

TEST_F(FileTest, CompressedFilesConform) {
  put("a.jsonl.gz", gzip("1\n2\n3\n") + gzip("4\n5\n"));
  put("b.jsonl.zst", zstd("6\n7\n") + zstd("8"));
  put("c.jsonl", gzip("9\n"));
  config.path = {"*.gz", "*.zst", "c.jsonl"};
  check_source(under_test({"1", "2", "3", "4", "5", "6", "7", "8", "9"}, "c.jsonl", "b.jsonl.zst"));
}

TEST_F(FileTest, CsvRecordsMayHoldLineBreaks) {
  put("a.csv", "id,t\n1,\"a\nb\"\n2,\"say \"\"\n\"\"\"\n3,c");
  config.path = {"a.csv"};
  check_source(under_test({"id,t", "1,\"a\nb\"", "2,\"say \"\"\n\"\"\"", "3,c"}, "a.csv"));
}

TEST_F(FileTest, RawLinesKeepEmptyOnes) {
  put("a.log", "x\n\ny");
  config.path = {"a.log"};
  check_source(under_test({"x", "", "y"}, "a.log"));
}

TEST_F(FileTest, LongLinesCrossBlocks) {
  const std::string a(3'000'000, 'a');
  const std::string b(500'000, 'b');
  put("a.jsonl", a + "\n" + b + "\nc\n" + b + "\n" + b + "\n" + b);
  config.path = {"a.jsonl"};
  check_source(under_test({a, b, "c", b, b, b}, "a.jsonl"));
}

TEST_F(FileTest, LineLimitNamesFileAndByte) {
  put("a.jsonl", "1\n" + std::string(5000, 'x') + "\n");
  config.path = {"a.jsonl"};
  config.max_line.value = 1000;
  auto s = source();
  ASSERT_TRUE(s->open());
  ASSERT_TRUE(s->read(limits(std::chrono::milliseconds(10))));
  ASSERT_TRUE(s->start_at({}));
  auto event = s->read(limits(std::chrono::milliseconds(10), 1));
  if (event) event = s->read(limits(std::chrono::milliseconds(10), 1));
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().kind, ErrorKind::limit);
  EXPECT_NE(event.error().message.find("a.jsonl: the line at byte 2"), std::string::npos) << event.error().message;
}

TEST_F(FileTest, PositionsOutsideTheFileAreConflicts) {
  put("a.jsonl", "1\n2\n");
  config.path = {"a.jsonl"};
  for (const std::string position : {"5", "x", "1x"}) {
    auto s = source();
    ASSERT_TRUE(s->open());
    ASSERT_TRUE(s->read(limits(std::chrono::milliseconds(10))));
    ASSERT_TRUE(s->start_at({{"a.jsonl", position}}));
    auto event = s->read(limits(std::chrono::milliseconds(10)));
    ASSERT_FALSE(event) << position;
    EXPECT_EQ(event.error().kind, ErrorKind::conflict);
  }
}

TEST_F(FileTest, DamagedAndMissingFilesAreErrors) {
  const std::string whole = gzip(std::string(100'000, 'x') + "\n");
  put("a.gz", whole.substr(0, whole.size() / 2));
  config.path = {"a.gz"};
  auto s = source();
  ASSERT_TRUE(s->open());
  ASSERT_TRUE(s->read(limits(std::chrono::milliseconds(10))));
  ASSERT_TRUE(s->start_at({}));
  auto event = s->read(limits(std::chrono::milliseconds(10)));
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().kind, ErrorKind::io);
  config.path = {"none*.jsonl"};
  auto opened = source()->open();
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("none*.jsonl"), std::string::npos);
}

TEST_F(FileTest, FollowsGrowthRotationAndTruncation) {
  put("a.jsonl", "1\n2");
  config.path = {"a.jsonl"};
  config.follow = true;
  auto s = source();
  ASSERT_TRUE(s->open());
  auto run = drain(*s, {}, SIZE_MAX, 1);
  EXPECT_EQ(texts(run), std::vector<std::string>{"1"});
  put("a.jsonl", "2\n3\n", true);
  EXPECT_EQ(texts(drain(*s, {}, SIZE_MAX, 1)), (std::vector<std::string>{"22", "3"}));
  put("a.jsonl", "old", true);
  std::filesystem::rename(folder.path() / "a.jsonl", folder.path() / "a.jsonl.1");
  put("a.jsonl", "new\n");
  run = drain(*s, {}, SIZE_MAX, 2);
  EXPECT_EQ(texts(run), (std::vector<std::string>{"old", "new"}));
  put("a.jsonl", "t\n");
  run = drain(*s, {}, SIZE_MAX, 1);
  EXPECT_EQ(texts(run), std::vector<std::string>{"t"});
  s->close();
  put("a.jsonl", "u\n", true);
  auto again = source();
  ASSERT_TRUE(again->open());
  EXPECT_EQ(texts(drain(*again, run.next, SIZE_MAX, 1)), std::vector<std::string>{"u"});
}

TEST_F(FileTest, WorkersShareTheFiles) {
  for (const std::string name : {"a", "b", "c"}) put(name + ".jsonl", name + "\n");
  config.path = {"*.jsonl"};
  context.workers = 2;
  auto first = source();
  context.worker = 1;
  auto second = source();
  ASSERT_TRUE(first->open());
  ASSERT_TRUE(second->open());
  EXPECT_EQ(texts(drain(*first)), (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(texts(drain(*second)), std::vector<std::string>{"b"});
}

TEST_F(FileTest, ParquetAndArrowConform) {
  auto database = sql::Database::open({});
  ASSERT_TRUE(database);
  context.database = database->get();
  auto session = (*database)->connect();
  ASSERT_TRUE(session);
  const std::string path = (folder.path() / "it's.parquet").string();
  std::string quoted;
  for (const char c : path) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  ASSERT_TRUE((*session)->execute("COPY (SELECT i FROM range(10) t(i)) TO '" + quoted + "'"));
  std::vector<std::string> expected;
  expected.reserve(10);
  for (int i = 0; i < 10; ++i) expected.push_back("{\"i\":" + std::to_string(i) + "}");
  config.path = {"*.parquet"};
  check_source(under_test(expected, "it's.parquet"));

  FileSinkConfig out;
  out.path = "a.arrow";
  FileSink sink(out, context);
  ASSERT_TRUE(sink.open());
  ASSERT_TRUE(sink.write(testing::id_name_batch(0, 4)));
  ASSERT_TRUE(sink.write(testing::id_name_batch(4, 5)));
  ASSERT_TRUE(sink.commit({}, {}));
  config.path = {"a.arrow"};
  expected.clear();
  expected.reserve(9);
  for (int i = 0; i < 9; ++i) expected.push_back(fmt::format(R"({{"id":{},"name":"n{}"}})", i, i));
  check_source(under_test(expected, "a.arrow"));
}

conformance::SinkUnderTest sink_under_test(const ComponentContext& context, const std::string& name,
                                           std::function<std::vector<std::string>()> rows) {
  FileSinkConfig config;
  config.path = name;
  const auto path = context.directory / name;
  // Rows go in by halves.
  const auto no_room = [path] {
    std::error_code none;
    const auto size = std::filesystem::file_size(path, none);
    auto limit = std::make_shared<testing::FileSizeLimit>(none ? 10 : size + 10);
    return [limit]() mutable { limit.reset(); };
  };
  const auto folder_in_its_place = [path] {
    std::filesystem::create_directories(path);
    return [path] { std::filesystem::remove_all(path); };
  };
  return {[path] { std::filesystem::remove_all(path); },
          [=] { return std::make_unique<FileSink>(config, context); },
          std::move(rows),
          {{no_room, ErrorKind::limit}},
          {{folder_in_its_place, ErrorKind::io}},
          conformance::Inapplicable{"it keeps no token: what a failed commit wrote is cut off"},
          conformance::Inapplicable{"a file has one writer: the second open() is a conflict, which has its own test"}};
}

TEST_F(FileTest, SinksConform) {
  check_sink(sink_under_test(context, "a.jsonl", [&] { return split_lines(read_text(folder.path() / "a.jsonl")); }));
  check_sink(sink_under_test(context, "a.csv", [&] {
    std::vector<std::string> rows;
    const auto lines = split_lines(read_text(folder.path() / "a.csv"));
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const std::string id = lines[i].substr(0, lines[i].find(','));
      rows.push_back("{\"id\":" + id + ",\"name\":\"" + lines[i].substr(id.size() + 1) + "\"}");
    }
    return rows;
  }));
  check_sink(sink_under_test(context, "a.arrow", [&] {
    config.path = {"a.arrow"};
    auto s = source();
    EXPECT_TRUE(s->open());
    return texts(drain(*s));
  }));
}

TEST_F(FileTest, OneSinkWritesAFileAtATime) {
  FileSinkConfig out;
  out.path = "a.jsonl";
  FileSink first(out, context);
  FileSink second(out, context);
  ASSERT_TRUE(first.open());
  put("a.jsonl", "{\"id\":");  // a line that the first one hasn't finished
  const auto refused = second.open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::conflict);
  EXPECT_NE(refused.error().message.find("a.jsonl is being written by"), std::string::npos) << refused.error().message;
  EXPECT_EQ(read_text(folder.path() / "a.jsonl"), "{\"id\":");
  ASSERT_TRUE(first.open()) << "its own lock is no hindrance";
  first.close();
  EXPECT_TRUE(second.open());
}

TEST_F(FileTest, SinkWritesToDevicesAndPipes) {
  FileSinkConfig out;
  out.path = "/dev/null";
  FileSink null(out, context);
  ASSERT_TRUE(null.open());
  ASSERT_TRUE(null.write(testing::id_name_batch(0, 1)));
  EXPECT_TRUE(null.commit({}, {}));

  out.path = "/dev/full";
  FileSink full(out, context);
  ASSERT_TRUE(full.open());
  ASSERT_TRUE(full.write(testing::id_name_batch(0, 1)));
  const auto refused = full.commit({}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::limit);

  out.path = "pipe.csv";
  const auto path = folder.path() / "pipe.csv";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  FileSink pipe(out, context);
  const auto unread = pipe.open();
  ASSERT_FALSE(unread);
  EXPECT_EQ(unread.error().kind, ErrorKind::unavailable) << unread.error().message;
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_TRUE(pipe.open());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(pipe.write(testing::id_name_batch(i, 1)));
    ASSERT_TRUE(pipe.commit({}, {}));
  }
  char text[100];
  EXPECT_EQ(std::string(text, static_cast<std::size_t>(::read(reader, text, sizeof text))), "id,name\n0,n0\n1,n1\n");
  ::close(reader);
}

TEST_F(FileTest, FoldersAreNoFiles) {
  std::filesystem::create_directory(folder.path() / "data");
  put("data/a.jsonl", "1\n");
  for (const std::string pattern : {"data", "d*"}) {
    config.path = {pattern};
    const auto opened = source()->open();
    ASSERT_FALSE(opened) << pattern;
    EXPECT_EQ(opened.error().kind, ErrorKind::io);
    EXPECT_NE(opened.error().message.find("'" + pattern + "/*.jsonl'"), std::string::npos) << opened.error().message;
  }
  put("dx.jsonl", "2\n");
  EXPECT_TRUE(source()->open()) << "a file beside the folder";
}

TEST_F(FileTest, SinkCutsATornTail) {
  put("a.jsonl", "{\"id\":1}\n{\"id\":");
  FileSinkConfig out;
  out.path = "a.jsonl";
  FileSink sink(out, context);
  ASSERT_TRUE(sink.open());
  EXPECT_EQ(read_text(folder.path() / "a.jsonl"), "{\"id\":1}\n");

  out.path = "a.arrow";
  FileSink arrow(out, context);
  ASSERT_TRUE(arrow.open());
  ASSERT_TRUE(arrow.write(testing::id_name_batch(0, 4)));
  ASSERT_TRUE(arrow.commit({}, {}));
  arrow.close();
  const std::string whole = read_text(folder.path() / "a.arrow");
  put("a.arrow", whole + whole.substr(0, whole.size() / 2));
  ASSERT_TRUE(arrow.open());
  EXPECT_EQ(read_text(folder.path() / "a.arrow"), whole);
}

}  // namespace
}  // namespace aqueduck

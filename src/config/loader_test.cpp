#include "config/loader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/secret.h"

namespace aqueduck::config {
namespace {

Environment of(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
}

struct Loaded {
  std::optional<Node> root;
  Faults faults;
  std::string message() const { return faults.to_error().message; }
};

Loaded load(std::string_view text, const Environment& environment = of({})) {
  Loaded out;
  out.root = load_text(text, "p.yml", environment, out.faults);
  return out;
}

// The node below `root`; one that says nothing where there is none.
Node at_path(const Node& root, std::initializer_list<std::string_view> keys) {
  const Node* node = &root;
  for (const auto key : keys) {
    node = node->find(key);
    if (node == nullptr) {
      ADD_FAILURE() << "no key " << key;
      return {};
    }
  }
  return *node;
}

// "line:col" of the first `needle` in the text of the node.
std::string place(const Node& node, std::string_view needle) {
  const std::size_t offset = node.text.find(needle);
  EXPECT_NE(offset, std::string::npos) << needle;
  return node.at(offset).to_string();
}

TEST(Loader, KeepsTextAndPlaces) {
  const auto loaded = load("pipeline: views\nsource:\n  kafka: {brokers: [a:1, 'b'], port: 010, on: yes, none: }\n");
  ASSERT_TRUE(loaded.faults.empty()) << loaded.message();
  const Node kafka = at_path(*loaded.root, {"source", "kafka"});
  EXPECT_EQ(kafka.where.to_string(), "p.yml:3:10");
  EXPECT_EQ(kafka.find("port")->text, "010");
  EXPECT_EQ(kafka.find("on")->text, "yes");
  EXPECT_EQ(kafka.find("none")->kind, Node::Kind::null);
  const Node& brokers = *kafka.find("brokers");
  ASSERT_EQ(brokers.items.size(), 2U);
  EXPECT_EQ(brokers.items[0].text, "a:1");
  EXPECT_FALSE(brokers.items[0].quoted);
  EXPECT_TRUE(brokers.items[1].quoted);
  EXPECT_EQ(brokers.items[1].where.to_string(), "p.yml:3:26");
  EXPECT_EQ(kafka.entries[1].where.to_string(), "p.yml:3:32");
}

TEST(Loader, NullsStandWhereTheyAreMissing) {
  const auto loaded = load("a:\nb: ~\nc:\n  -\n\n  - null\nd: ''\n");
  ASSERT_TRUE(loaded.faults.empty()) << loaded.message();
  EXPECT_EQ(loaded.root->find("a")->where.to_string(), "p.yml:1:1");
  EXPECT_EQ(loaded.root->find("b")->where.to_string(), "p.yml:2:4");
  const auto& items = loaded.root->find("c")->items;
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].where.to_string(), "p.yml:4:3");
  EXPECT_EQ(items[1].where.to_string(), "p.yml:6:5");
  EXPECT_EQ(items[1].kind, Node::Kind::null);
  EXPECT_EQ(loaded.root->find("d")->kind, Node::Kind::scalar);
}

TEST(Loader, PlacesInLiteralBlocks) {
  const auto loaded =
      load("a: 1\nsql: |   # comment\n\n  SELECT ä, b\n    FROM t\n\n  WHERE c\nz: |-\n      x\n       y");
  ASSERT_TRUE(loaded.faults.empty()) << loaded.message();
  const Node& sql = *loaded.root->find("sql");
  EXPECT_EQ(sql.text, "\nSELECT ä, b\n  FROM t\n\nWHERE c\n");
  EXPECT_EQ(sql.block_indent, 2);
  EXPECT_EQ(place(sql, "SELECT"), "p.yml:4:3");
  EXPECT_EQ(place(sql, "b"), "p.yml:4:13");
  EXPECT_EQ(place(sql, "FROM"), "p.yml:5:5");
  EXPECT_EQ(place(sql, "c"), "p.yml:7:9");
  EXPECT_EQ(sql.at(10'000).to_string(), "p.yml:7:11");
  EXPECT_EQ(place(*loaded.root->find("z"), "y"), "p.yml:10:8");
}

TEST(Loader, PlacesInBlocksWithAnIndentOfTheirOwn) {
  const auto loaded = load("sql: |2\n    x\n  y\n");
  ASSERT_TRUE(loaded.faults.empty()) << loaded.message();
  const Node& sql = *loaded.root->find("sql");
  EXPECT_EQ(sql.text, "  x\ny\n");
  EXPECT_EQ(sql.block_indent, 2);
  EXPECT_EQ(place(sql, "x"), "p.yml:2:5");
  EXPECT_EQ(place(sql, "y"), "p.yml:3:3");
}

TEST(Loader, PlacesInFoldedBlocks) {
  const auto loaded = load("sql: >\n  SELECT a,\n  b\n\n  FROM t\n    more\n  WHERE c\nx: 1\n");
  ASSERT_TRUE(loaded.faults.empty()) << loaded.message();
  const Node& sql = *loaded.root->find("sql");
  EXPECT_EQ(place(sql, "a"), "p.yml:2:10");
  EXPECT_EQ(place(sql, "b"), "p.yml:3:3");
  EXPECT_EQ(place(sql, "FROM"), "p.yml:5:3");
  EXPECT_EQ(place(sql, "more"), "p.yml:6:5");
  EXPECT_EQ(place(sql, "c"), "p.yml:7:9");
}

TEST(Loader, PlacesInPlainAndQuotedTexts) {
  const auto loaded =
      load("a: SELECT x\n   FROM y\nb: 'it''s q'\nc: \"tab\\t\\u00e4 q\"\nd: \"one\n\n  two q\\\n   three\"\n");
  ASSERT_TRUE(loaded.faults.empty()) << loaded.message();
  EXPECT_EQ(place(*loaded.root->find("a"), "x"), "p.yml:1:11");
  EXPECT_EQ(place(*loaded.root->find("a"), "y"), "p.yml:2:9");
  EXPECT_EQ(loaded.root->find("b")->text, "it's q");
  EXPECT_EQ(place(*loaded.root->find("b"), "q"), "p.yml:3:11");
  EXPECT_EQ(loaded.root->find("c")->text, "tab\tä q");
  EXPECT_EQ(place(*loaded.root->find("c"), "q"), "p.yml:4:17");
  EXPECT_EQ(loaded.root->find("d")->text, "one\ntwo qthree");
  EXPECT_EQ(place(*loaded.root->find("d"), "q"), "p.yml:7:7");
  EXPECT_EQ(place(*loaded.root->find("d"), "three"), "p.yml:8:4");
}

TEST(Loader, CarriageReturnsAndByteOrderMarksDoNotMoveColumns) {
  const auto loaded = load(
      "\xEF\xBB\xBF"
      "a: 1\r\nsql: |\r\n  x\r\n  y\r\n");
  ASSERT_TRUE(loaded.faults.empty()) << loaded.message();
  EXPECT_EQ(loaded.root->entries[0].where.to_string(), "p.yml:1:1");
  EXPECT_EQ(loaded.root->find("sql")->text, "x\ny\n");
  EXPECT_EQ(place(*loaded.root->find("sql"), "y"), "p.yml:4:3");
}

TEST(Loader, PutsVariablesIn) {
  const auto loaded = load(
      "a: ${A}\nb: {x: [${A}, \"${B:-de fault, [x]}\"], y: ${B:-}}\nc: $${A} $${${A}\nsql: |\n  ${A} 1 ${A}\n  q "
      "${B:-z} q2\n",
      of({{"A", "va: lue"}, {"B", ""}}));
  ASSERT_TRUE(loaded.faults.empty()) << loaded.message();
  EXPECT_EQ(loaded.root->find("a")->text, "va: lue");
  EXPECT_TRUE(loaded.root->find("a")->templated);
  EXPECT_EQ(at_path(*loaded.root, {"b", "x"}).items[0].text, "va: lue");
  EXPECT_EQ(at_path(*loaded.root, {"b", "x"}).items[1].text, "de fault, [x]");
  EXPECT_EQ(at_path(*loaded.root, {"b", "y"}).text, "");
  EXPECT_EQ(loaded.root->find("c")->text, "${A} ${va: lue");
  const Node& sql = *loaded.root->find("sql");
  EXPECT_EQ(sql.text, "va: lue 1 va: lue\nq z q2\n");
  EXPECT_EQ(place(sql, "lue"), "p.yml:5:3");
  EXPECT_EQ(place(sql, "1"), "p.yml:5:8");
  EXPECT_EQ(place(sql, "q2"), "p.yml:6:13");
}

TEST(Loader, PutsFilesInAndKeepsThemSecret) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("aqueduck-loader-{}", ::getpid());
  std::ofstream(path) << "from-a-file-1\n";
  const auto loaded =
      load(fmt::format("a: ${{file:{}}}\nb: ${{DB_PASSWORD}}\nc: ${{file:/does/not/exist}}\nd: ${{file:/}}\n",
                       path.string()),
           of({{"DB_PASSWORD", "pass-word-2"}}));
  std::filesystem::remove(path);
  EXPECT_EQ(loaded.root->find("a")->text, "from-a-file-1");
  EXPECT_TRUE(loaded.root->find("a")->secret);
  EXPECT_TRUE(loaded.root->find("b")->secret);
  EXPECT_EQ(redact("from-a-file-1 pass-word-2"), "*** ***");
  EXPECT_EQ(loaded.message(),
            "p.yml:3:4: /does/not/exist of ${file:…} cannot be read: No such file or directory\n"
            "p.yml:4:4: / of ${file:…} is not a regular file");
}

TEST(Loader, ReportsAllFaultsAtOnce) {
  const auto loaded = load("a: ${NOPE}\nb: 1\nb: 2\nc: x ${no pe}\nd:\n  e: 'q ${ALSO_NOT}'\nf: ${open\n");
  EXPECT_TRUE(loaded.root);
  EXPECT_EQ(loaded.message(),
            "p.yml:1:4: the environment variable NOPE is not set; set it, or give a default: ${NOPE:-default}\n"
            "p.yml:3:1: 'b' is given twice (first in line 2): keep one\n"
            "p.yml:4:6: '${no pe}' is not understood: write ${NAME}, ${NAME:-default} or ${file:/path}, or $${ for a "
            "literal ${\n"
            "p.yml:6:9: the environment variable ALSO_NOT is not set; set it, or give a default: ${ALSO_NOT:-default}\n"
            "p.yml:7:4: '${' is not closed: write ${NAME}, ${NAME:-default} or ${file:/path}, or $${ for a literal ${");
}

TEST(Loader, RefusesWhatIsNotForConfigurations) {
  EXPECT_EQ(load("a: &x 1\nb: *x\n").message().substr(0, 40), "p.yml:1:4: anchors and aliases ('&name',");
  EXPECT_EQ(load("a: [*]\n").message(), "p.yml:1:6: '*' begins an alias, which is not supported: quote the text");
  EXPECT_EQ(load("a: !foo 1\n").message(),
            "p.yml:1:4: tags ('!name') are not supported: leave it away, or quote the text");
  EXPECT_EQ(load("a: 1\n---\nb: 1\n").message(), "p.yml:2:1: a second document ('---') begins here: a file holds one");
  EXPECT_EQ(load("a: 1\n? [b, {c: d}]\n: {e: f}\ng: 2\n").message(), "p.yml:2:3: a key must be text, not a list");
  EXPECT_EQ(load("a: b: c\n").message(),
            "p.yml:1:5: ': ' may not stand here: quote a text that holds it, or check the indentation");
  EXPECT_EQ(load("a: [1, 2\nb: 3\n").message().substr(0, 6), "p.yml:");
  EXPECT_EQ(load("a: \"x\n").message(), "p.yml:1:4: a quote is not closed");
  EXPECT_EQ(load("a: x\xff y\n").message(), "p.yml:1:5: byte 0xff is not UTF-8: save the file as UTF-8 text");
  EXPECT_EQ(load(std::string_view("a: \0\n", 5)).message(),
            "p.yml:1:4: the control byte 0x00 may not stand in a configuration");
  EXPECT_EQ(load(std::string((4 << 20) + 1, 'x')).message(),
            "p.yml: the file is larger than 4 MiB, which no configuration should be");
}

TEST(Loader, SurvivesHostileTexts) {
  for (const char* piece :
       {"[",    "{",   "- ",   "? ",    "{a: ", "[[],",  "a: |\n", "\"", "'", "${", "!",  "&a ", "*a ",
        "[a, ", "{? ", "- - ", "a:\n ", "%",    "---\n", "...\n",  "| ", ">", "# ", "\t", ": "}) {
    std::string text;
    while (text.size() < 20'000) text += piece;
    const auto loaded = load(text);
    EXPECT_TRUE(loaded.root || !loaded.faults.empty()) << piece;
  }
  const auto deep = load(std::string(65, '[') + std::string(65, ']'));
  EXPECT_EQ(deep.message(), "p.yml:1:65: nested deeper than 64 levels");
  std::string many = "[";
  for (int i = 0; i < 100'001; ++i) many += "a,";
  EXPECT_NE(load(many + "]").message().find("more than 100000 values"), std::string::npos);
}

TEST(Loader, TakesHugeScalars) {
  const std::string huge(3 << 20, 'x');
  const auto loaded = load("a: |\n  " + huge + "\nb: \"" + huge.substr(0, 1 << 19) + "\"\n");
  ASSERT_TRUE(loaded.faults.empty()) << loaded.message();
  EXPECT_EQ(loaded.root->find("a")->text.size(), huge.size() + 1);
}

TEST(Loader, AnEmptyFileIsNull) {
  for (const char* text : {"", "\n", "# only a comment\n", "---\n"}) {
    const auto loaded = load(text);
    ASSERT_TRUE(loaded.root) << text;
    EXPECT_EQ(loaded.root->kind, Node::Kind::null);
    EXPECT_TRUE(loaded.faults.empty());
  }
}

TEST(Loader, FilesThatCannotBeRead) {
  Faults faults;
  EXPECT_FALSE(load_file("/does/not/exist.yml", of({}), faults));
  EXPECT_FALSE(load_file("/", of({}), faults));
  EXPECT_EQ(faults.to_error().message,
            "/: cannot be read: Is a directory\n/does/not/exist.yml: cannot be read: No such file or directory");
}

TEST(SetPath, PutsValuesInPlace) {
  auto loaded = load("source: {kafka: {topics: [a, b]}}\n");
  Faults faults;
  for (const char* assignment : {"source.kafka.topics.1=c", "source.kafka.topics.2=d", "new.deep.key=SELECT a: b = c",
                                 "source.kafka.flow={x: [1, 2]}", "dotted\\.key=1", "gone=null", "empty="}) {
    set_path(*loaded.root, assignment, faults);
  }
  ASSERT_TRUE(faults.empty()) << faults.to_error().message;
  const Node kafka = at_path(*loaded.root, {"source", "kafka"});
  EXPECT_EQ(kafka.find("topics")->items[1].text, "c");
  EXPECT_EQ(kafka.find("topics")->items[2].text, "d");
  EXPECT_EQ(at_path(*loaded.root, {"new", "deep", "key"}).text, "SELECT a: b = c");
  EXPECT_EQ(kafka.find("flow")->find("x")->items[1].text, "2");
  EXPECT_EQ(loaded.root->find("dotted.key")->text, "1");
  EXPECT_EQ(loaded.root->find("gone")->kind, Node::Kind::null);
  EXPECT_EQ(loaded.root->find("empty")->kind, Node::Kind::scalar);
  EXPECT_EQ(at_path(*loaded.root, {"new", "deep", "key"}).where.to_string(), "--set new.deep.key");
}

TEST(SetPath, SaysWhatIsWrong) {
  auto loaded = load("a: text\nb: [1]\n");
  Faults faults;
  for (const char* assignment : {"novalue", "a..b=1", "=1", "a.b=1", "b.7=1", "b.x=1", "c=[1", "password=hidden-one"}) {
    set_path(*loaded.root, assignment, faults);
  }
  const std::string message = faults.to_error().message;
  EXPECT_EQ(faults.all().size(), 7U) << message;
  EXPECT_NE(message.find(
                "--set a.b: 'b' can't be set: 'a' is 'text' here, which has nothing below it; replace it whole, like "
                "--set 'a={b: …}'"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("--set b.7: '7' is not the number of an item: the list has 1, counted from 0"),
            std::string::npos);
  EXPECT_EQ(redact("hidden-one"), "***");
}

}  // namespace
}  // namespace aqueduck::config

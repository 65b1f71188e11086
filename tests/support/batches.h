#pragma once

#include <gtest/gtest.h>
#include <nanoarrow/nanoarrow.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "columnar/schema.h"

namespace aqueduck::testing {

/// Rows {id: int64, name: "n<id>"} with ids from `from` on.
inline RecordBatch id_name_batch(std::int64_t from, std::int64_t count) {
  ArrowSchema schema{};
  ArrowSchemaInit(&schema);
  EXPECT_EQ(ArrowSchemaSetTypeStruct(&schema, 2), NANOARROW_OK);
  EXPECT_EQ(ArrowSchemaSetType(schema.children[0], NANOARROW_TYPE_INT64), NANOARROW_OK);
  EXPECT_EQ(ArrowSchemaSetName(schema.children[0], "id"), NANOARROW_OK);
  EXPECT_EQ(ArrowSchemaSetType(schema.children[1], NANOARROW_TYPE_STRING), NANOARROW_OK);
  EXPECT_EQ(ArrowSchemaSetName(schema.children[1], "name"), NANOARROW_OK);
  ArrowArray array{};
  EXPECT_EQ(ArrowArrayInitFromSchema(&array, &schema, nullptr), NANOARROW_OK);
  EXPECT_EQ(ArrowArrayStartAppending(&array), NANOARROW_OK);
  for (std::int64_t i = from; i < from + count; ++i) {
    const std::string name = "n" + std::to_string(i);
    EXPECT_EQ(ArrowArrayAppendInt(array.children[0], i), NANOARROW_OK);
    EXPECT_EQ(ArrowArrayAppendString(array.children[1], ArrowCharView(name.c_str())), NANOARROW_OK);
    EXPECT_EQ(ArrowArrayFinishElement(&array), NANOARROW_OK);
  }
  EXPECT_EQ(ArrowArrayFinishBuildingDefault(&array, nullptr), NANOARROW_OK);
  return {std::make_shared<const Schema>(Schema::adopt(&schema)), std::make_shared<const Array>(Array::adopt(&array))};
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline void write_text(const std::filesystem::path& path, std::string_view text, bool append = false) {
  std::ofstream out(path, append ? std::ios::binary | std::ios::app : std::ios::binary);
  out << text;
}

inline std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "aqueduck-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace aqueduck::testing

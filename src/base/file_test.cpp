#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace aqueduck {
namespace {

TEST(File, ReplaceIsWholeAndReadsBack) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "aqueduck_file_test";
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(make_folders(folder / "a/b"));
  const auto path = folder / "a/b/x.json";
  ASSERT_TRUE(replace_file(path, "one"));
  ASSERT_TRUE(replace_file(path, "two"));
  EXPECT_EQ(read_file(path).value(), "two");
  EXPECT_FALSE(std::filesystem::exists(folder / "a/b/x.json.new"));
  EXPECT_EQ(read_file(path, 2).error().kind, ErrorKind::limit);
}

TEST(File, ErrorsNameThePath) {
  const auto missing = read_file("/nonexistent/x");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::io);
  EXPECT_NE(missing.error().message.find("/nonexistent/x"), std::string::npos);
  EXPECT_EQ(replace_file("/dev/full/x", "y").error().kind, ErrorKind::io);
}

TEST(File, AFullDiskIsALimit) {
  const Descriptor full(::open("/dev/full", 1));
  const auto result = write_all(full.get(), "x", "/dev/full");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::limit);
}

}  // namespace
}  // namespace aqueduck

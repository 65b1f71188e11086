#include "base/append_file.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/support/batches.h"
#include "tests/support/file_size_limit.h"

namespace aqueduck {
namespace {

using testing::FileSizeLimit;
using testing::read_text;
using testing::TemporaryFolder;

TEST(AppendFile, KeepsTheOrderOfSmallAndLargePieces) {
  const TemporaryFolder folder;
  auto file = AppendFile::create(folder.path() / "f").value();
  std::string expected;
  for (std::size_t i = 0; i < 40; ++i) {
    const std::string piece(i % 7 == 0 ? 300'000 : 1'000 + i, static_cast<char>('a' + i % 26));
    file.append(piece);
    expected += piece;
  }
  EXPECT_EQ(file.size(), expected.size());
  ASSERT_TRUE(file.sync());
  EXPECT_EQ(file.waiting(), 0U);
  EXPECT_EQ(read_text(folder.path() / "f"), expected);
}

TEST(AppendFile, WhatTheDiskRefusesWaitsAndIsWrittenOnce) {
  const TemporaryFolder folder;
  auto file = AppendFile::create(folder.path() / "f").value();
  std::string expected;
  {
    const FileSizeLimit limit(500'000);
    for (char c = 'a'; c < 'k'; ++c) {
      const std::string piece(100'000, c);
      file.append(piece);
      expected += piece;
    }
    for (int i = 0; i < 2; ++i) {
      auto refused = file.flush();
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().kind, ErrorKind::limit);
    }
    EXPECT_EQ(file.waiting(), 500'000U);
    EXPECT_EQ(file.sync().error().kind, ErrorKind::limit);
  }
  ASSERT_TRUE(file.sync());
  EXPECT_EQ(read_text(folder.path() / "f"), expected);
}

}  // namespace
}  // namespace aqueduck

#include "base/lock_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqueduck {
namespace {

struct LockFileTest : ::testing::Test {
  std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "aqueduck_lock_file_test";
  LockFileTest() { std::filesystem::remove(path); }
};

TEST_F(LockFileTest, OneHolderAtATime) {
  auto first = LockFile::take(path);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(read_file(path).value(), fmt::format("{}\n", ::getpid()));
  const auto second = LockFile::take(path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::conflict);
  EXPECT_NE(second.error().message.find("this process holds " + path.string()), std::string::npos)
      << second.error().message;
  *first = LockFile();
  EXPECT_TRUE(LockFile::take(path));
}

TEST_F(LockFileTest, NamesTheProcessThatHoldsItAndEndsWithIt) {
  int ready[2];
  int end[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(end), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto held = LockFile::take(path);
    char byte = held ? 'y' : 'n';
    (void)!::write(ready[1], &byte, 1);
    (void)!::read(end[0], &byte, 1);
    ::_exit(0);
  }
  char byte = 'n';
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  const auto refused = LockFile::take(path);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(fmt::format("process {} holds ", child)), std::string::npos)
      << refused.error().message;
  ASSERT_EQ(::write(end[1], &byte, 1), 1);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(LockFile::take(path));
  for (const int descriptor : {ready[0], ready[1], end[0], end[1]}) ::close(descriptor);
}

TEST_F(LockFileTest, ErrorsNameThePath) {
  const auto refused = LockFile::take("/nonexistent/lock");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::io);
  EXPECT_NE(refused.error().message.find("/nonexistent/lock"), std::string::npos);
}

}  // namespace
}  // namespace aqueduck

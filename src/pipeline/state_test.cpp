#include "pipeline/state.h"

#include <gtest/gtest.h>

#include "tests/support/batches.h"

namespace aqueduck::pipeline {
namespace {

TEST(StateFile, StartsOfThisRunAreForTheNextOne) {
  const testing::TemporaryFolder folder;
  {
    auto state = StateFile::open(folder.path(), "p");
    ASSERT_TRUE(state) << state.error().message;
    ASSERT_TRUE((*state)->save_starts({{"t/0", "5"}}));
    // A worker that begins a moment later would take its own partitions of the topic for new ones.
    EXPECT_TRUE((*state)->earlier_starts().empty());
    ASSERT_TRUE((*state)->save_starts({{"t/1", "7"}}));
  }
  auto again = StateFile::open(folder.path(), "p");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ((*again)->earlier_starts(), (Positions{{"t/0", "5"}, {"t/1", "7"}}));
}

}  // namespace
}  // namespace aqueduck::pipeline

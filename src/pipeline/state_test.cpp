#include "pipeline/state.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace aqueduck::pipeline {
namespace {

namespace fs = std::filesystem;

TEST(StateFile, StartsOfThisRunAreForTheNextOne) {
  std::string name = (fs::temp_directory_path() / "aqueduck-state-XXXXXX").string();
  const fs::path folder = ::mkdtemp(name.data());
  {
    auto state = StateFile::open(folder, "p");
    ASSERT_TRUE(state) << state.error().message;
    ASSERT_TRUE((*state)->save_starts({{"t/0", "5"}}));
    // A worker that begins a moment later would take its own partitions of the topic for new ones.
    EXPECT_TRUE((*state)->earlier_starts().empty());
    ASSERT_TRUE((*state)->save_starts({{"t/1", "7"}}));
  }
  auto again = StateFile::open(folder, "p");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ((*again)->earlier_starts(), (Positions{{"t/0", "5"}, {"t/1", "7"}}));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace aqueduck::pipeline

#include "component/rehearsal.h"

#include <gtest/gtest.h>

#include "tests/support/batches.h"

namespace aqueduck {
namespace {

TEST(RehearsalPath, StaysBelowTheFolder) {
  const testing::TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  EXPECT_EQ(rehearsal_path(folder, "out"), folder / "out");
  EXPECT_EQ(rehearsal_path(folder, "./a/../b/c.jsonl"), folder / "b/c.jsonl");
  EXPECT_EQ(rehearsal_path(folder, "/data/lake"), folder / "outside/data/lake");
  EXPECT_EQ(rehearsal_path(folder, "../../lake"), folder / "outside/lake");
  EXPECT_EQ(rehearsal_path(folder, "a/../../lake"), folder / "outside/lake");
  EXPECT_EQ(rehearsal_path(folder, "/../lake"), folder / "outside/lake");
  EXPECT_TRUE(std::filesystem::is_directory(folder / "outside/data"));
}

}  // namespace
}  // namespace aqueduck

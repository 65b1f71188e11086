#include "base/secret.h"

#include <gtest/gtest.h>

namespace aqueduck {
namespace {

TEST(Secret, IsRemovedFromTextsOthersMade) {
  const Secret password("hunter2-long");
  EXPECT_EQ(redact("login with hunter2-long failed; hunter2-long?"), "login with *** failed; ***?");
  EXPECT_EQ(password.reveal(), "hunter2-long");
}

TEST(Secret, LongerOnesFirstSoThatNoTailIsLeft) {
  remember_secret("abcd");
  remember_secret("abcd-efgh");
  EXPECT_EQ(redact("x abcd-efgh y abcd"), "x *** y ***");
}

TEST(Secret, ShortValuesAreLeftAlone) {
  const Secret pin("12");
  EXPECT_EQ(redact("12 of 12"), "12 of 12");
}

}  // namespace
}  // namespace aqueduck

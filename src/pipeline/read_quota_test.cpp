#include "pipeline/read_quota.h"

#include <gtest/gtest.h>

namespace aqueduck::pipeline {
namespace {

using namespace std::chrono_literals;
const Clock::Point kStart{1h};

TEST(ReadQuota, WithoutALimitEverybodyGetsWhatTheyWant) {
  ReadQuota quota({}, 4, kStart);
  EXPECT_EQ(quota.reserve(1000), 1000U);
  EXPECT_FALSE(quota.over(kStart + 24h));
}

TEST(ReadQuota, ReservationsNeverAddUpToMoreThanTheLimit) {
  ReadQuota quota({10, {}}, 2, kStart);
  EXPECT_EQ(quota.reserve(100), 5U);
  EXPECT_EQ(quota.reserve(100), 3U);
  EXPECT_EQ(quota.reserve(100), 1U);
  EXPECT_EQ(quota.reserve(100), 1U);
  EXPECT_EQ(quota.reserve(100), 0U);
  EXPECT_FALSE(quota.over(kStart)) << "reserved is not read";
}

TEST(ReadQuota, WhatWasNotReadComesBack) {
  ReadQuota quota({4, {}}, 1, kStart);
  EXPECT_EQ(quota.reserve(100), 4U);
  quota.settle(4, 1, kStart);
  EXPECT_EQ(quota.reserve(100), 3U);
  quota.settle(3, 3, kStart);
  EXPECT_TRUE(quota.over(kStart));
}

TEST(ReadQuota, IdleMeansThatNoWorkerGotAnything) {
  ReadQuota quota({{}, 10s}, 2, kStart);
  quota.settle(quota.reserve(1), 0, kStart + 9s);
  EXPECT_TRUE(quota.over(kStart + 10s));
  quota.settle(quota.reserve(1), 1, kStart + 9s);
  EXPECT_FALSE(quota.over(kStart + 18s));
  EXPECT_TRUE(quota.over(kStart + 19s));
}

}  // namespace
}  // namespace aqueduck::pipeline

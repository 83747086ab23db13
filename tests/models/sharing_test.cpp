// Laws of how fast jobs are that share a GPU.

#include "models/sharing.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("sharing: laws say what their equations do") {
  const auto alone = std::vector<StageTimes>{{1, 0, 1, 0}, {0, 1, 0, 1}, {2, 0, 0, 0}, {0, 0, 0, 0}};
  const auto constant = constant_sharing(1.5, {});
  const std::vector<JobId> one{JobId{1U}}, two{JobId{1U}, JobId{2U}};
  CHECK(constant->speed(JobId{0U}, one, -1) == 666'666'666);
  CHECK(constant->speed(JobId{0U}, two, -1) == 500'000'000);
  // A and B never need the same stage at once: in step, the group takes as long as one of them.
  CHECK(interleaved_iteration(std::vector<StageTimes>{{1, 1, 1, 1}, {1, 1, 1, 1}}) == 4);
  CHECK(interleaved_iteration(std::vector<StageTimes>{{4, 0, 0, 0}, {4, 0, 0, 0}}) == 8);
  CHECK(interleaved_iteration(std::vector<StageTimes>{{2, 0, 0, 0}, {0, 3, 0, 0}}) == 3);
  CHECK(interleaved_iteration(std::vector<StageTimes>{{3, 1, 0, 0}}) == 4);
  const auto turns = interleaved_sharing(alone);
  const std::vector<JobId> third{JobId{2U}}, unknown{JobId{3U}};
  CHECK(turns->speed(JobId{0U}, third, -1) ==
        kFullSpeed / 2);  // 2 s of 4: both read, one after the other, and A computes
  CHECK(turns->speed(JobId{0U}, unknown, -1) == 0);
  const auto pairs = pair_sharing({{{0, 1, -1}, 0.75}, {{1, 0, -1}, 0.5}, {{0, 1, 2}, 0.25}}, {0, 1, 0}, {});
  CHECK(pairs->speed(JobId{0U}, one, 0) == 750'000'000);
  CHECK(pairs->speed(JobId{0U}, one, 2) == 250'000'000);
  CHECK(pairs->speed(JobId{1U}, third, 0) == 500'000'000);
  CHECK(pairs->speed(JobId{0U}, third, 0) == 0);
  CHECK(pairs->speed(JobId{0U}, two, 0) == 0);
}

// Tests when jobs that share links begin their iterations, by hand.

#include "network/routing/beats.hpp"

#include <optional>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

Time ms(std::int64_t count) {
  return Time::nanoseconds(count * 1'000'000);
}

/// Takes `iteration` ms, of which it sends for the last `sends` at the full rate of each link, 1,000 bytes a second.
SendingJob job(std::int64_t iteration, std::int64_t sends, std::vector<std::uint32_t> links) {
  SendingJob one{ms(iteration), ms(sends), {}};
  for (const std::uint32_t link : links) one.bytes.emplace_back(LinkId{link}, static_cast<double>(sends));
  return one;
}

std::vector<std::optional<Beat>> beats_of(const std::vector<SendingJob>& jobs) {
  return plan_beats(jobs, [](LinkId) { return 1'000.0; });
}

}  // namespace

TEST_CASE("two jobs on a link send in turns") {
  // Each sends for 40 of 100 ms: the second begins when the first has sent, or so that it has sent when the first
  // begins.
  const auto beats = beats_of({job(100, 40, {0}), job(100, 40, {0})});
  REQUIRE(beats[0]);
  REQUIRE(beats[1]);
  CHECK(*beats[0] == Beat{ms(100), Time{}});
  CHECK(beats[1]->period == ms(100));
  CHECK(beats[1]->shift >= ms(40));
  CHECK(beats[1]->shift <= ms(60));
  // If they send for 60 ms each, their periods are 120 ms.
  const auto longer = beats_of({job(100, 60, {0}), job(100, 60, {0})});
  REQUIRE(longer[1]);
  CHECK(longer[0]->period == ms(120));
  CHECK(*longer[1] == Beat{ms(120), ms(60)});
  // A further link with the same jobs changes nothing, one that has room for both, neither.
  CHECK(beats_of({job(100, 40, {0, 1}), job(100, 40, {0, 1})}) == beats);
  SendingJob half = job(100, 40, {0});
  half.bytes.front().second /= 2;
  CHECK(beats_of({half, half}) == std::vector<std::optional<Beat>>(2));
}

TEST_CASE("jobs need no beat if they share no link, or no shift helps") {
  const std::vector<std::optional<Beat>> none(2);
  CHECK(beats_of({job(100, 40, {0}), job(100, 40, {1})}) == none);
  // The third would send while another one does.
  CHECK(beats_of({job(100, 60, {0}), job(140, 60, {0}), job(180, 60, {0})}) == std::vector<std::optional<Beat>>(3));
  CHECK(beats_of({job(100, 40, {0}), SendingJob{ms(100), Time{}, {}}}) == none);
  CHECK(beats_of({}).empty());
}

TEST_CASE("jobs that meet on different links have one shift each, and none where the links close a circle") {
  // The second job meets the first on link 0 and the third on link 1.
  const auto beats = beats_of({job(100, 30, {0}), job(100, 30, {0, 1}), job(100, 30, {1})});
  REQUIRE(beats[1]);
  const auto apart = [&](std::size_t a, std::size_t b) {
    const std::int64_t between = (beats[b]->shift - beats[a]->shift).ns() / 1'000'000 % 100;
    return (between + 100) % 100;
  };
  CHECK(apart(0, 1) >= 30);
  CHECK(apart(0, 1) <= 70);
  CHECK(apart(1, 2) >= 30);
  CHECK(apart(1, 2) <= 70);
  CHECK(beats_of({job(100, 30, {0, 2}), job(100, 30, {0, 1}), job(100, 30, {1, 2})}) ==
        std::vector<std::optional<Beat>>(3));
}

TEST_CASE("iterations of different lengths have periods in a common unit, no shorter than they are") {
  const auto beats = beats_of({job(100, 20, {0}), job(200, 40, {0})});
  REQUIRE(beats[0]);
  CHECK(beats[0]->period == ms(100));
  CHECK(beats[1]->period == ms(200));
  // 99,991 and 100,003 us are primes: both become the longer one.
  SendingJob odd = job(100, 20, {0}), even = odd;
  odd.iteration = Time::nanoseconds(99'991'000);
  even.iteration = Time::nanoseconds(100'003'000);
  const auto rounded = beats_of({odd, even});
  REQUIRE(rounded[0]);
  CHECK(rounded[0]->period == even.iteration);
  CHECK(rounded[1]->period == even.iteration);
  // 100 and 145 ms have no common unit that slows neither by more than a tenth and lets them send in turns for so long.
  CHECK(beats_of({job(100, 40, {0}), job(145, 60, {0})}) == std::vector<std::optional<Beat>>(2));
}

TEST_CASE("an iteration that is a little late begins at once, any other waits for the next beat") {
  const Beat beat{ms(100), ms(30)};
  CHECK(wait_for(beat, ms(30)) == Time{});
  CHECK(wait_for(beat, ms(435)) == Time{});
  CHECK(wait_for(beat, ms(436)) == ms(94));
  CHECK(wait_for(beat, ms(0)) == ms(30));
  CHECK(wait_for(beat, ms(529)) == ms(1));
}

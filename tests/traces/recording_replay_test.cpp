// Traces without starts, replayed to the nanosecond, and the deadlocks that are found so.

#include "traces/recording/recording_replay.hpp"

#include "tests/traces/recording_test_kit.hpp"
#include "traces/recording/recording_summary.hpp"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace contend::recorded {
namespace {

constexpr std::uint64_t kSends = 5, kReceives = 6, kMeets = 7;

Recording job_of(const std::vector<std::string>& files) {
  Recording job;
  for (std::size_t i = 0; i < files.size(); ++i) job.ranks.push_back(read(files[i], fmt::format("t.{}.et", i)));
  return job;
}

TransferTime taking(std::int64_t us) {
  return [us](const RecordedRank&, const RecordedTask&, std::size_t) { return Time::microseconds(us); };
}

std::string stream(std::uint64_t lane) {
  return number("stream", lane);
}

std::string end_of_message(std::uint64_t id, std::uint64_t type, const char* peer, std::uint64_t rank,
                           std::initializer_list<std::uint64_t> needs) {
  return node({.id = id,
               .type = type,
               .more = number(peer, rank) + number("comm_size", 1000) + number("comm_tag", 0),
               .needs = needs});
}

}  // namespace

TEST_CASE("streams are in order of nodes, and beside each other") {
  // 10 and 10 us on one stream, 15 on another: 20 by streams, 15 without an order, 35 on one queue.
  Recording job =
      job_of({metadata() + node({.id = 1, .us = 10, .more = stream(7)}) + node({.id = 2, .us = 10, .more = stream(7)}) +
              node({.id = 3, .us = 15, .more = stream(20)})});
  const RecordingReplay done = replay(job, taking(0));
  CHECK(done.end.ns() == 20'000);
  CHECK(done.waiting.empty());
  CHECK(job.ranks[0].tasks[1].start.ns() == 10'000);
  CHECK(summarise(job.ranks[0]).times.busy.ns() == 20'000);
}

TEST_CASE("an all-reduce beside computing") {
  const std::string file = metadata() + node({.id = 1, .us = 10, .more = stream(7)}) +
                           node({.id = 2, .type = kMeets, .more = collective(0, 1 << 20) + stream(20), .needs = {1}}) +
                           node({.id = 3, .us = 20, .more = stream(7), .needs = {1}}) +
                           node({.id = 4, .us = 5, .more = stream(7), .needs = {2, 3}});
  for (const std::int64_t us : {12, 20, 33}) {
    CAPTURE(us);
    Recording job = job_of({file, file});
    CHECK(replay(job, taking(us)).end.ns() == (15 + std::max<std::int64_t>(us, 20)) * 1000);
    CHECK(summarise(job.ranks[1]).times.exposed.ns() == std::max<std::int64_t>(0, us - 20) * 1000);
  }
}

TEST_CASE("a collective waits for its last rank") {
  const auto file = [](std::uint64_t us) {
    return metadata() + node({.id = 1, .us = us}) +
           node({.id = 2, .type = kMeets, .more = collective(0, 8), .needs = {1}});
  };
  Recording job = job_of({file(10), file(50)});
  CHECK(replay(job, taking(12)).end.ns() == 62'000);
  CHECK(job.ranks[0].tasks[1].duration.ns() == 52'000);  // 40 of them are waiting
  CHECK(job.ranks[1].tasks[1].duration.ns() == 12'000);
}

TEST_CASE("a peer that never comes is a deadlock") {
  const std::string both = group("0", "[0, 1]");
  Recording job = job_of({metadata() + both + node({.id = 0, .us = 5}) +
                              node({.id = 1, .type = kMeets, .more = collective(0, 4 << 20), .needs = {0}}),
                          metadata() + both + node({.id = 0, .us = 3})});
  const RecordingReplay stuck = replay(job, taking(1));
  CHECK(stuck.end.ns() == 5'000);
  REQUIRE(stuck.waiting.size() == 1);
  CHECK(stuck.waiting[0].key == "node 1");
  CHECK(stuck.waiting[0].reason == "deadlock at 5.000 us: rank 0 waits in group \"0\" for rank 1, which has finished");
}

TEST_CASE("crossed receives are a deadlock, free sends are none") {
  const auto file = [](std::uint64_t peer, std::initializer_list<std::uint64_t> needs) {
    return metadata() + end_of_message(1, kReceives, "comm_src", peer, {}) +
           end_of_message(2, kSends, "comm_dst", peer, needs);
  };
  Recording crossed = job_of({file(1, {1}), file(0, {1})});
  const RecordingReplay stuck = replay(crossed, taking(1));
  CHECK(stuck.end.ns() == 0);
  CHECK(stuck.messages == 0);
  REQUIRE(stuck.waiting.size() == 2);
  CHECK(stuck.waiting[1].reason ==
        "deadlock at 0.000 us: rank 0 waits for a send of rank 1 with tag 0: its node 2 needs its node 1");
  Recording open = job_of({file(1, {}), file(0, {})});
  const RecordingReplay done = replay(open, taking(4));
  CHECK(done.waiting.empty());
  CHECK(done.messages == 2);
  CHECK(done.end.ns() == 4'000);
}

TEST_CASE("a ring of messages takes its steps") {
  // Three ranks, 4 steps: each sends the data that it has received in the step before. A message takes 7 us.
  std::vector<std::string> files;
  for (std::uint64_t rank = 0; rank < 3; ++rank) {
    std::string& file = files.emplace_back(metadata());
    for (std::uint64_t step = 0; step < 4; ++step) {
      const std::uint64_t id = 2 * step;
      file += step == 0 ? end_of_message(id, kSends, "comm_dst", (rank + 1) % 3, {})
                        : end_of_message(id, kSends, "comm_dst", (rank + 1) % 3, {id - 1});
      file += end_of_message(id + 1, kReceives, "comm_src", (rank + 2) % 3, {});
    }
  }
  Recording job = job_of(files);
  const RecordingReplay done = replay(job, taking(7));
  CHECK(done.end.ns() == 28'000);
  CHECK(done.messages == 12);
  CHECK(done.waiting.empty());
}

}  // namespace contend::recorded

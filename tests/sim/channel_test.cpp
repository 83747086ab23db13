// Channels: in which order a job's collectives enter the network.

#include "tests/sim/test_kit.hpp"

using namespace contend;
using namespace contend::test;

namespace {

/// Two workers on two servers that compute a, b and c, which end at 10, 11 and 12 ns and are sent as 100, 30 and 30
/// bytes, c before b before a where the channel may choose.
std::string network_with(const std::string& channel, std::int64_t iterations = 1) {
  const std::string graph =
      "role worker 2 | compute a worker 10 | compute b worker 1 | compute c worker 1 | a -> b | b -> c\n"
      "all-reduce A worker 100 | all-reduce B worker 30 | all-reduce C worker 30 | a -> A | b -> B | c -> C\n"
      "channel stream " +
      channel + "\nput A stream 3 | put B stream 2 | put C stream 1";
  return simulate({.servers = 2}, {{graph, {0, 1}, iterations}}).seen.network();
}

}  // namespace

TEST_CASE("a window that is full lets nobody in before the network has: the order is settled when A has ended") {
  CHECK(network_with("1 100") == "A.A#0 10-110 | A.C#0 110-140 | A.B#0 140-170");
  CHECK(network_with("1 1") == "A.A#0 10-110 | A.C#0 110-140 | A.B#0 140-170");
}

TEST_CASE("one byte more, and B is committed when it becomes ready, before C") {
  CHECK(network_with("1 101") == "A.A#0 10-110 | A.B#0 110-140 | A.C#0 140-170");
  // B overdraws the window, so that C waits until A has ended.
  CHECK(network_with("1 130") == "A.A#0 10-110 | A.B#0 110-140 | A.C#0 140-170");
}

TEST_CASE("as many at once as the channel says, whatever the window") {
  CHECK(network_with("2 1") == "A.B#0 11-41 | A.C#0 41-71 | A.A#0 10-110");
  CHECK(network_with("3 1") == "A.B#0 11-41 | A.C#0 12-42 | A.A#0 10-110");
  CHECK(network_with("2 1000") == "A.B#0 11-41 | A.C#0 41-71 | A.A#0 10-110");
}

TEST_CASE("the earlier iteration goes first, whatever the priorities") {
  // Nothing waits for the collectives. The second iteration computes from 12 on: its messages are ready at 22, 23, 24.
  CHECK(network_with("1 1", 2) ==
        "A.A#0 10-110 | A.C#0 110-140 | A.B#0 140-170 | A.C#1 170-200 | A.B#1 200-230 | A.A#1 230-330");
}

// Runs jobs over the contention model, with and without leaping, and compares them with cases worked by hand (source:
// arXiv 2002.10105).

#include "tests/near.hpp"
#include "tests/network/contention_kit.hpp"

#include <cstdint>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

constexpr const char* kExchange100 = "role w 2 | compute f w 10 | all-reduce g w 100 | f -> g | g => f";

}  // namespace

TEST_CASE("two jobs that contend: 2 beta + eta per byte") {
  // Beta 2, eta 1. Both f 0-10, both g 10-510 (5 ns a byte instead of 2), iteration by iteration.
  const RunResult run = run_on(cost(0, 2, 1), true, {2, 2}, {{kExchange100, {0, 2}, 200}, {kExchange100, {1, 3}, 200}});
  CHECK(run.jobs[0].finish.ns() == 200 * 510);
  CHECK(run.jobs[1].finish.ns() == 200 * 510);
  CHECK(run.jobs[0].communication.ns() == 200 * 500);
  CHECK(run.jobs[0].contended.ns() == 200 * 500);
  CHECK(run.links[0].contended.ns() == 200 * 500);
  CHECK(run.links[0].bytes == Bytes{200 * 200});

  const RunResult apart =
      run_on(cost(0, 2, 1), false, {2, 2}, {{kExchange100, {0, 2}, 200}, {kExchange100, {1, 3}, 200}});
  CHECK(apart.jobs[0].finish.ns() == 200 * 210);
  CHECK(apart.jobs[0].contended.ns() == 0);
}

TEST_CASE("a transfer that joins half-way slows the first one from then on") {
  // A: g from 10, alone until 110: 50 bytes left. B: submitted at 100, f 100-110, 20 bytes at 5 ns: g 110-210. A has
  // sent 20 more by then, 30 left: 210 + 60.
  const RunResult run =
      run_on(cost(0, 2, 1), true, {2, 2},
             {{kExchange100, {0, 2}}, {"role w 2 | compute f w 10 | all-reduce g w 20 | f -> g", {1, 3}, 1, 100}});
  CHECK(run.jobs[1].finish.ns() == 210);
  CHECK(run.jobs[0].finish.ns() == 270);
  CHECK(run.jobs[0].contended.ns() == 100);
  CHECK(run.jobs[1].contended.ns() == 100);
}

TEST_CASE("k = 3 on one server decides for a transfer that meets only one of the others elsewhere") {
  // A, B, C meet on server 0; C and D on server 3. Beta 1, eta 1, 100 bytes each: A, B, C at 3 + 2 = 5 ns a byte, D at
  // 2 + 1 = 3. D ends at 10 + 300; that changes nothing for C, whose server 0 has three: A, B and C end at 510.
  const RunResult run =
      run_on(cost(0, 1, 1), true, {5, 3},
             {{kExchange100, {0, 3}}, {kExchange100, {1, 6}}, {kExchange100, {2, 9}}, {kExchange100, {10, 12}}});
  CHECK(run.jobs[3].finish.ns() == 310);
  for (const std::size_t job : {0U, 1U, 2U}) CHECK(run.jobs[job].finish.ns() == 510);
  CHECK(run.links[3].contended.ns() == 300);
}

TEST_CASE("interference: only what computes on the GPUs of a transfer slows it") {
  // A sends 100 bytes at 1 ns from the first to the second server; its third rank has nothing to do. B computes beside
  // that rank, or beside the sender. With B beside the sender the bytes take 1.5 times as long while B computes, and B
  // takes 1.25 times as long while they are sent: 120 ns of B end at 150, when all is sent, too.
  const char* const sends =
      "role a 1 | role b 1 | role c 1 | compute s a 0 | message m a b 100 | compute e b 0 | compute f c 0 | s -> m | m "
      "-> e";
  const char* const computes = "role w 1 | compute f w 120";
  const Interference interference{250'000, 500'000};
  const RunResult beside_idle =
      run_on(cost(0, 1, 0), true, {3, 1}, {{sends, {0, 1, 2}}, {computes, {2}}}, interference);
  CHECK(beside_idle.jobs[0].finish.ns() == 100);
  CHECK(beside_idle.jobs[1].finish.ns() == 120);
  const RunResult beside_sender =
      run_on(cost(0, 1, 0), true, {3, 1}, {{sends, {0, 1, 2}}, {computes, {0}}}, interference);
  CHECK(beside_sender.jobs[0].finish.ns() == 150);
  CHECK(beside_sender.jobs[1].finish.ns() == 150);
}

TEST_CASE("the network of the reference: VGG-16 and ResNet-50 contend") {
  // beta 0.856 ms per MiB, eta 0.235: alone VGG-16's 526.4 MiB take 450.5984 ms; two at once 2 x 0.856 + 0.235 = 1.947
  // ms per MiB. ResNet-50's 99.2 MiB take 193.1424 ms beside VGG-16, which then has 427.2 MiB = 365.6832 ms left.
  constexpr double kMebibyte = 1'048'576;
  const AlphaBeta price = cost(0, 0.856e6 / kMebibyte, 0.235e6 / kMebibyte);
  // 526.4 and 99.2 MiB are not whole bytes: a tenth of a MiB is 104857.6 bytes.
  const RunResult run = run_on(price, true, {2, 2},
                               {{"role w 2 | compute f w 10 | all-reduce g w 551970406 | f -> g", {0, 2}},
                                {"role w 2 | compute f w 10 | all-reduce g w 104018739 | f -> g", {1, 3}}});
  CHECK(run.jobs[1].communication.to_seconds() == near(0.1931424));
  CHECK(run.jobs[0].communication.to_seconds() == near(0.1931424 + 0.3656832));
}

// RL post-training of the program beside plain loops, and what holds for every run.

#include "validate/rl/rl_suite.hpp"

#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"
#include "validate/verdict.hpp"

#include <cstdint>
#include <cstdio>
#include <set>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("rl: random runs equal plain loops, phases add up, staleness has its bound, tokens are kept") {
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{500}); ++seed) {
    CAPTURE(seed);
    CHECK(rl_difference(random_rl_case(seed)) == "");
  }
}

TEST_CASE("rl: in order of completion single answers pass the bound") {
  int beyond = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const RlCase each = random_rl_case(seed);
    if (each.mode != RlCase::Mode::asynchronous || each.in_order) continue;
    RlLoop loop = rl_loop_of(each);
    static_cast<void>(run_to_end(loop));
    beyond += static_cast<double>(loop.totals().staleness_max) > each.eta + 0.75 ? 1 : 0;
  }
  CHECK(beyond > 0);
}

TEST_CASE("rl: runs that lose their GPUs at random instants train each group once, within the bound") {
  int losses = 0;
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{200}); ++seed) {
    CAPTURE(seed);
    const RlCase each = random_rl_case(seed);
    RlLoop loop = rl_loop_of(each);
    RandomStream stream{seed, "rl-losses"};
    for (Time now; !loop.is_over();) {
      const Time next = loop.next();
      REQUIRE(next < Time::never());
      if (stream.uniform() < 0.9 || loop.totals().groups_begun == 0) {
        now = next;
        loop.advance(now);
        continue;
      }
      now = Time::nanoseconds(stream.uniform_integer(now.ns(), next.ns()));
      loop.lose(now);
      now += Time::nanoseconds(stream.uniform_integer(0, 5000));
      loop.resume(now);
      ++losses;
    }
    CHECK(loop.steps().size() == static_cast<std::size_t>(each.trainings));
    std::set<GroupNumber> trained;
    for (const RlStep& step : loop.steps())
      for (const TakenGroup& taken : step.groups) {
        CHECK(each.group(taken.group).is_kept);
        CHECK(trained.insert(taken.group).second);
      }
    if (each.mode == RlCase::Mode::asynchronous && each.in_order)
      CHECK(static_cast<double>(loop.totals().staleness_max) <= each.eta + 0.75);
    CHECK(loop.totals().tokens_answered <= loop.totals().tokens_asked);
  }
  CHECK(losses > 0);
}

TEST_CASE("rl: the asynchronous step follows from the parts of the synchronous arm, on GPUs of their own") {
  const TemporaryFolder folder;
  write_file(folder.path("rl_published.csv"),
             "id,source,mode,step_s,gen_s,wait_s,logprob_s,ref_s,update_s,sync_s\n"
             "a-sync,s,synchronous on separate GPUs,19,,10,2,,6,1\na-async,s,asynchronous,12,,,,,,\n"
             "b-sync,s,synchronous on separate GPUs,19,,10,,,,\nb-async,s,asynchronous,12,,,,,,\n"
             "c-sync,s,colocated,19,,10,2,,6,1\nc-async,s,asynchronous,12,,,,,,\n");
  const CheckedTable table = rl_asynchronous_arms(folder.path(""));
  REQUIRE(table.checks.size() == 1);  // the parts of b aren't known, and c takes turns on one set
  CHECK(table.checks[0].name == "a-async");
  CHECK(table.checks[0].ours == near(11));  // max(10, 2 + 6) + 1
  CHECK(!table.checks[0].is_within());      // 8% too fast
  CHECK(table.notes.size() == 1);
}

TEST_CASE("rl: the suite holds, with the public data or without them") {
  std::FILE* const out = std::tmpfile();
  REQUIRE(out != nullptr);
  CHECK(validate_rl(out) == kSuiteHeld);
  static_cast<void>(std::fclose(out));
}

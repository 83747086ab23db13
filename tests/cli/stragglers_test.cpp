// What `contend stragglers` says of timelines that a reader can replay by hand.

#include "tests/cli/program.hpp"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

std::string step_event(int replica, const std::string& name, double start_s, double length_s) {
  return fmt::format(R"({{"name":"{}","pid":{},"tid":1,"ts":{},"dur":{},"ph":"X","args":{{"step":1,"seq_id":0}}}},)"
                     "\n",
                     name, replica, 1e6 * start_s, 1e6 * length_s);
}

/// Replicas of one stage that compute forward for so many seconds, backward for 2 s, and update for 1 s. They don't
/// wait for each other.
std::string step_timeline(std::initializer_list<double> forward_s) {
  std::string text = "[";
  int replica = 0;
  for (const double forward : forward_s) {
    text += step_event(replica, "forward-compute", 0, forward);
    text += step_event(replica, "backward-compute", forward, 2);
    text += step_event(replica++, "optimizer", forward + 2, 1);
  }
  return text + R"({"name":"thread_name","ph":"M","pid":0,"tid":1,"args":{"name":"PP rank 0, compute"}}])";
}

}  // namespace

TEST_CASE("stragglers: the verdict names what explains half of the lost time" * doctest::skip(!has_program())) {
  const Workplace here;
  // Forward passes of 1 and 3 s would be 2 s each: the step takes 6 s in place of 5 s, all of it by replica 1.
  here.write("slow.json", step_timeline({1, 3}));
  const Outcome slow = here.contend("stragglers slow.json");
  CHECK_MESSAGE(contains(slow.out,
                         "A step takes 1.2000 times as long as without stragglers, and replica 1 explains it: without "
                         "the delays there, 100.0% of the lost time goes."),
                slow.out);
  CHECK(contains(slow.out, "replica 0                                 1.0000               0.0%"));
  CHECK(contains(slow.out, "replica 1                                 1.2000             100.0%"));
  CHECK(!contains(slow.out, "stage 0"));  // the only stage is the whole job
  const Outcome json = here.contend("stragglers slow.json --json");
  CHECK(contains(json.out, "\"slowdown\": 1.2"));
  CHECK(contains(json.out, "\"kind\": \"replica\""));

  // 1, 2 and 3 s, twice each: means of 2 s, and what replica 2 or 5 loses alone the other loses, too.
  here.write("two.json", step_timeline({1, 2, 3, 1, 2, 3}));
  CHECK(contains(
      here.contend("stragglers two.json").out,
      ", and no stage, replica or worker explains half of that: without replica 5, 0.0% of the lost time goes."));
  // 1.9 and 2.1 s: 5.1 s in place of 5 s.
  here.write("even.json", step_timeline({1.9, 2.1}));
  CHECK(contains(here.contend("stragglers even.json").out,
                 "A step takes 1.0200 times as long as without stragglers, less than 1.1 times"));
  here.write("alone.json", step_timeline({2}));
  CHECK(contains(here.contend("stragglers alone.json").out, "A step takes 1.0000 times"));
  // Of ten replicas the eight that mend most.
  here.write("many.json", step_timeline({2, 2, 2, 2, 2, 2, 2, 2, 2, 4}));
  const std::string many = here.contend("stragglers many.json").out;
  CHECK(contains(many, "replica 9"));
}

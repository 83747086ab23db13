// Tests the measured part of a run: which jobs belong to it, what was busy in it, and when the run may stop.

#include "tests/near.hpp"
#include "tests/sim/struck_cluster.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Two GPUs. Jobs arrive at 0, 10, 20, 30 and 40 s and take 8 s each, the third on both GPUs; what is measured.
struct Measured {
  std::string measured;
  double busy_s, length_s;
  std::int64_t end_s;
  bool interrupted;
};

Measured measure(MeasuredWindow window, Time until = Time::never()) {
  StruckCluster cluster{.servers = 2, .jobs = {}};
  for (int j = 0; j < 5; ++j) cluster.jobs.push_back(timed_ns(10 * j * kSecond, 8 * kSecond, j == 2 ? 2 : 1));
  cluster.window = window;
  cluster.until = until;
  const RunResult result = cluster.run();
  Measured measured{"", 0, 0, result.end.ns() / kSecond, result.interrupted};
  for (const JobResult& job : result.jobs) measured.measured += job.measured ? 'm' : '-';
  REQUIRE(result.window.has_value() == window.given());
  if (result.window) measured.busy_s = result.window->gpu_s, measured.length_s = result.window->length_s;
  return measured;
}

void check_window(const Measured& now, const std::string& jobs, double busy_s, double length_s, std::int64_t end_s,
                  bool interrupted) {
  CHECK(now.measured == jobs);
  CHECK(now.busy_s == near(busy_s));
  CHECK(now.length_s == near(length_s));
  CHECK(now.end_s == end_s);
  CHECK(now.interrupted == interrupted);
}

}  // namespace

TEST_CASE("a measured window: its jobs, what its GPUs do in it, and where the run ends") {
  const auto s = [](std::int64_t seconds) { return Time::seconds(seconds); };
  check_window(measure({}), "mmmmm", 0, 0, 48, false);
  // From 10 s, when the second job is submitted, to before 30 s: 8 + 2 x 8. The run ends with the window.
  check_window(measure({s(10), s(30)}), "-mm--", 24, 20, 30, false);
  // A job that is submitted at its end isn't measured. The run goes on until the last that is measured has ended.
  check_window(measure({s(10), s(25)}), "-mm--", 8 + 2 * 5, 15, 28, false);
  check_window(measure({s(14), s(26)}), "--m--", 4 + 2 * 6, 12, 28, false);
  // One side only; a window without an end is as long as the run.
  check_window(measure({s(22), Time::never()}), "---mm", 2 * 6 + 8 + 8, 26, 48, false);
  check_window(measure({Time{}, s(12)}), "mm---", 8 + 2, 12, 18, false);
  // No job is measured: it ends with the window; or the jobs have all ended before, and the cluster is idle since.
  check_window(measure({s(31), s(35)}), "-----", 4, 4, 35, false);
  check_window(measure({s(44), s(100)}), "-----", 4, 56, 48, false);
  check_window(measure({s(60), s(100)}), "-----", 0, 40, 48, false);
  // A run that is cut short in the window, before it, and after it.
  check_window(measure({s(10), s(30)}, s(22)), "-mm--", 8 + 2 * 2, 12, 22, true);
  check_window(measure({s(10), s(30)}, s(6)), "-mm--", 0, 0, 6, true);
  check_window(measure({s(10), s(25)}, s(27)), "-mm--", 18, 15, 27, true);
}

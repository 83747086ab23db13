// A whole calibration of a device that does as told.

#include "calibration/calibrator.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "tests/calibration/fake_backend.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;

namespace {

OperatorWork work_of(const contend_operation& operation) {
  return find_operator(operation.name)
      ->work({operation.shape, static_cast<std::size_t>(operation.dimensions)}, DataType::fp32);
}

/// 1 us, and 1 TB/s or 10 Tflop/s.
double roofline(const contend_operation& operation, int) {
  const OperatorWork work = work_of(operation);
  return 1e-6 + std::max(work.bytes / 1e12, work.flops / 1e13);
}

struct Bench {
  Bench() { device.time = roofline; }

  FakeDevice device;
  CalibrationRequest request{.mode = CalibrationMode::quick,
                             .groups = {OperatorGroup::memory},
                             .budget_seconds = 50,
                             .date = "2026-11-21T18:20:51Z",
                             .version = "1"};
  CalibrationHooks hooks{.clock = [this] { return device.now; }};

  CalibrationResult run(const std::optional<CalibrationProfile>& begun = {}) {
    return calibrate(device.backend(), request, hooks, begun);
  }
};

std::size_t points(const CalibrationProfile& profile) {
  std::size_t out = 0;
  for (const OperatorTable& each : profile.tables) out += each.samples.size();
  return out;
}

}  // namespace

TEST_CASE("a calibration of one group") {
  Bench bench;
  std::vector<CalibrationProfile> saved;
  std::vector<std::size_t> done;
  bench.hooks.checkpoint = [&](const CalibrationProfile& profile) { saved.push_back(profile); };
  bench.hooks.progress = [&](const CalibrationProgress& progress) {
    done.push_back(progress.done);
    CHECK(progress.total == 15);
    CHECK(progress.seconds_left <= 50);
  };
  const CalibrationResult result = bench.run();
  const CalibrationProfile& profile = result.profile;
  CHECK(result.end == CalibrationEnd::finished);
  CHECK(profile.complete);
  CHECK(profile.name == "fake-1");
  CHECK(profile.device == "Fake 1");
  CHECK(profile.backend == "fake");
  CHECK(profile.mode == "quick");
  CHECK(profile.date == "2026-11-21T18:20:51Z");
  CHECK(profile.warnings.empty());
  CHECK(profile.skipped.empty());
  REQUIRE(profile.tables.size() == 3);
  CHECK(profile.tables[0].name == "copy");
  CHECK(profile.tables[2].name == "write");
  REQUIRE(profile.tables[0].samples.size() == 5);
  CHECK(profile.tables[0].samples[4].shape == OperatorShape{256 << 20});
  // 2 x 256 MiB at 1 TB/s: 537 us.
  CHECK(profile.tables[0].samples[4].seconds == near(1e-6 + 2 * 268435456e-12));
  REQUIRE_FALSE(saved.empty());
  CHECK_FALSE(saved.front().complete);
  CHECK(saved.front().tables.empty());
  CHECK(done.size() == 15);
  CHECK(std::is_sorted(done.begin(), done.end()));
  CHECK(bench.device.opened == bench.device.closed);
  CHECK(bench.device.prepared == bench.device.released);
}

TEST_CASE("every operator is measured coarsely before any is measured finely") {
  Bench bench;
  static_cast<void>(bench.run());
  std::vector<std::string> expected;
  const auto all_three = [&](std::initializer_list<const char*> sizes) {
    for (const char* name : {"copy", "read", "write"})
      for (const char* size : sizes) expected.push_back(std::string{name} + " fp32 " + size);
  };
  all_three({"4096"});  // the smallest of five, then the fifth, the third, and the two between
  all_three({"268435456"});
  all_three({"1048576"});
  all_three({"65536", "16777216"});
  CHECK(bench.device.log == expected);
}

TEST_CASE("a calibration looks at the device once a second, saves every five, and foretells its end") {
  Bench bench;
  bench.request.groups = {OperatorGroup::memory, OperatorGroup::optimizer, OperatorGroup::elementwise};
  bench.device.time = [](const contend_operation&, int) { return 1e-2; };
  std::vector<double> saved, looked;
  bench.hooks.checkpoint = [&](const CalibrationProfile&) { saved.push_back(bench.device.now); };
  bench.device.state = [&] {
    looked.push_back(bench.device.now);
    return contend_device_state{};
  };
  bench.hooks.progress = [&](const CalibrationProgress& progress) {
    // Each takes as long as those so far did on average; the first ones may take all of the budget.
    const double each = progress.done > 0 ? bench.device.now / static_cast<double>(progress.done) : 50;
    const double expected = each * static_cast<double>(progress.total - progress.done);
    CHECK(progress.seconds_left == near(std::min(50 - bench.device.now, expected)));
  };
  static_cast<void>(bench.run());
  REQUIRE(bench.device.now > 12);
  CHECK(saved.size() >= 3);
  // Between two operations, which take up to 0.2 s here. Besides, the device is looked at when all is done.
  for (std::size_t i = 1; i < saved.size(); ++i) CHECK(saved[i] - saved[i - 1] == near_absolute(5.1, 0.1));
  for (std::size_t i = 1; i + 1 < looked.size(); ++i) CHECK(looked[i] - looked[i - 1] == near_absolute(1.1, 0.1));
}

TEST_CASE("the budget holds on a slow device, and what doesn't fit is listed") {
  Bench bench;
  bench.request.groups = {OperatorGroup::memory, OperatorGroup::gemm};
  bench.request.budget_seconds = 10;
  bench.device.time = [](const contend_operation& operation, int count) { return 300 * roofline(operation, count); };
  const CalibrationResult result = bench.run();
  CHECK(result.profile.complete);  // there is nothing that another run would do better
  CHECK(bench.device.now < 10.5);
  CHECK(points(result.profile) > 20);
  CHECK(result.profile.skipped.size() > 20);
  for (const SkippedOperation& each : result.profile.skipped)
    CHECK((each.reason.starts_with("too slow") || each.reason.starts_with("no time left of 10 s")));
  std::size_t designed = 0;
  for (const DesignedTable& table :
       design({.mode = CalibrationMode::quick, .memory_bytes = bench.device.info.memory_bytes}, bench.request.groups))
    designed += table.shapes.size();
  CHECK(designed > 400);
  CHECK(points(result.profile) + result.profile.skipped.size() == designed);
}

TEST_CASE("a launch that costs much doesn't make large operations look slow") {
  Bench bench;
  bench.device.time = [](const contend_operation& operation, int count) { return 1e-4 + roofline(operation, count); };
  // 8 KiB in 101 us are 81 MB/s, at which 512 MiB would take 6.6 s.
  const CalibrationProfile profile = bench.run().profile;
  CHECK(points(profile) == 15);
  CHECK(profile.skipped.empty());
}

TEST_CASE("an operation is skipped unmeasured only if its fewest executions would take longer than the patience") {
  // A step of 4 Mi values takes 1/128 s, so 64 Mi should take 1/8 s, and the eight executions 1 s: the limit of an
  // operation in quick mode, of which 20 s for 12 operations leave enough. They turn out to be quicker.
  for (const double longer : {1.0, 1.001}) {
    Bench bench;
    bench.request.groups = {OperatorGroup::optimizer};
    bench.request.budget_seconds = 20;
    bench.device.time = [&](const contend_operation& operation, int) {
      if (operation.shape[0] == 4 << 20) return longer / 128;
      return operation.shape[0] == 64 << 20 ? 1e-2 : 1e-6;
    };
    const CalibrationProfile profile = bench.run().profile;
    CHECK(points(profile) == (longer > 1 ? 9 : 12));
    for (const SkippedOperation& each : profile.skipped) {
      CHECK(each.shape == OperatorShape{64 << 20});
      CHECK(each.reason == "too slow: at least 0.13 s each, and 1 s for 8 of them");
    }
  }
}

TEST_CASE("what can't be measured is listed: shapes that don't fit, and once what isn't there at all") {
  Bench bench;
  bench.device.prepare = [](const contend_operation& operation) {
    if (std::string_view{operation.name} == "read") return CONTEND_UNSUPPORTED;
    return operation.shape[0] > (1 << 20) ? CONTEND_OUT_OF_MEMORY : CONTEND_OK;
  };
  const CalibrationProfile profile = bench.run().profile;
  CHECK(profile.complete);
  CHECK(profile.table("read", DataType::fp32) == nullptr);
  CHECK(profile.table("copy", DataType::fp32)->samples.size() == 3);
  REQUIRE(profile.skipped.size() == 2 + 1 + 2);
  CHECK(profile.skipped[0].shape == OperatorShape{16 << 20});
  CHECK(profile.skipped[0].reason == "fake answer 5");
  CHECK(profile.skipped[2].name == "read");
  CHECK(profile.skipped[2].shape.empty());
}

TEST_CASE("what needs two devices says so on one") {
  Bench bench;
  bench.request.groups = {OperatorGroup::collective};
  const CalibrationProfile profile = bench.run().profile;
  CHECK(profile.tables.empty());
  CHECK(profile.skipped.size() == 5);
  CHECK(profile.skipped[0].reason == "needs two devices");
  CHECK(bench.device.log.empty());
}

TEST_CASE("after a failure the next operation is measured; a broken device is left to another process") {
  Bench bench;
  int runs = 0;
  SUBCASE("a failure") {
    bench.device.run = [&](const contend_operation&, int) { return ++runs == 40 ? CONTEND_FAILED : CONTEND_OK; };
    const CalibrationResult result = bench.run();
    CHECK(result.end == CalibrationEnd::finished);
    CHECK(bench.device.opened == 1);
    CHECK(points(result.profile) == 14);
    REQUIRE(result.profile.skipped.size() == 1);
    CHECK(result.profile.skipped[0].reason == "fake answer 6");
  }
  SUBCASE("broken") {
    bench.device.run = [&](const contend_operation&, int) { return ++runs == 40 ? CONTEND_BROKEN : CONTEND_OK; };
    const CalibrationResult result = bench.run();
    CHECK(result.end == CalibrationEnd::device_broken);
    CHECK(result.message == "fake answer 7");
    CHECK_FALSE(result.profile.complete);
    CHECK(points(result.profile) > 0);
    CHECK(points(result.profile) < 15);
    CHECK(bench.device.closed == 1);
  }
  SUBCASE("broken by the first operation") {
    bench.device.run = [](const contend_operation&, int) { return CONTEND_BROKEN; };
    CHECK(bench.run().end == CalibrationEnd::device_lost);
  }
}

TEST_CASE("a second visit, when all has been measured once, shows what differs between the two") {
  Bench bench;
  bench.request.visit_twice = true;
  // Faster by a tenth from the second visit on, as if something else had used the device before.
  bench.device.time = [&](const contend_operation& operation, int count) {
    return (bench.device.log.size() > 15 ? 0.9 : 1.0) * roofline(operation, count);
  };
  const CalibrationProfile profile = bench.run().profile;
  REQUIRE(bench.device.log.size() == 30);
  for (std::size_t i = 0; i < 15; ++i) CHECK(bench.device.log[i] == bench.device.log[15 + i]);
  CHECK(profile.visited_twice == 15);
  for (const OperatorTable& table : profile.tables)
    for (const OperatorSample& sample : table.samples) {
      contend_operation operation{};
      operation.name = table.name.c_str();
      operation.type = "fp32";
      operation.dimensions = 1;
      operation.shape[0] = sample.shape[0];
      CHECK(sample.seconds == near(0.95 * roofline(operation, 0)));
      CHECK(sample.half_width == near(0.05 / 0.95, 1e-6));
    }
}

TEST_CASE("a second visit leaves no time that the first ones need") {
  Bench bench;
  bench.request.visit_twice = true;
  bench.device.time = [](const contend_operation&, int) { return 0.1; };
  bench.request.budget_seconds = 12;
  const CalibrationProfile twice = bench.run().profile;
  Bench once;
  once.device.time = bench.device.time;
  once.request.budget_seconds = 12;
  CHECK(points(twice) == points(once.run().profile));
  CHECK(twice.visited_twice < 15);
  CHECK(bench.device.now < 13);
}

TEST_CASE("products are warmed up for longer, and some for seconds") {
  Bench bench;
  bench.request.groups = {OperatorGroup::gemm};
  bench.request.mode = CalibrationMode::full;
  bench.request.budget_seconds = 400;
  std::string last;
  double begin = 0, longest = 0, longest_sustained = 0;
  // Slow for as long as a device takes to reach its limit of power.
  bench.device.time = [&](const contend_operation& operation, int) {
    if (bench.device.log.back() != last) {
      last = bench.device.log.back();
      begin = bench.device.now;
    }
    double& most = std::string_view{operation.name} == "gemm_sustained" ? longest_sustained : longest;
    most = std::max(most, bench.device.now - begin);
    return 10e-3;
  };
  static_cast<void>(bench.run());
  CHECK(longest > 0.1);
  CHECK(longest < 1);
  CHECK(longest_sustained > 3);
  CHECK(longest_sustained < 6.1);
}

TEST_CASE("throttling and other users are warned of") {
  Bench bench;
  bench.device.time = [](const contend_operation& operation, int count) { return 500 * roofline(operation, count); };
  int looks = 0;
  bench.device.state = [&] {
    contend_device_state state{};
    state.power_limited_s = 100 + 2 * looks;
    state.heat_limited_s = looks < 2 ? 7 : 7.5;
    if (++looks <= 2) {
      state.throttled = 1;
      state.clock_mhz = looks == 1 ? 1300 : 1200;
      std::snprintf(state.throttle, sizeof state.throttle, "%s", looks == 1 ? "heat" : "power");
    }
    state.other_processes = looks;
    return state;
  };
  const CalibrationProfile profile = bench.run().profile;
  REQUIRE(profile.warnings.size() == 3);
  CHECK(profile.power_limited_s == 2 * (looks - 1));
  CHECK(profile.warnings[1] == "heat held the clock down for 0.5 s");
  CHECK(profile.warnings[0].find("the clock was held down (heat) at 2 of ") == 0);
  CHECK(profile.warnings[0].find(", first during the start; ") != std::string::npos);
  CHECK(profile.warnings[0].find("; down to 1200 MHz") != std::string::npos);
  CHECK(profile.warnings[2].find("others used the device at ") == 0);
  CHECK(profile.warnings[2].find(", first during the start; ") != std::string::npos);
}

TEST_CASE("cancelled and resumed: the same as in one go, and nothing twice") {
  Bench whole;
  whole.request.groups = {OperatorGroup::memory, OperatorGroup::optimizer};
  const std::string expected = to_yaml(whole.run().profile);
  const std::size_t all = whole.device.log.size();

  std::optional<CalibrationProfile> begun;
  std::vector<std::string> log;
  for (const int after : {7, 9, 1000}) {
    Bench part;
    part.request.groups = whole.request.groups;
    int asked = 0;
    part.hooks.cancelled = [&] { return ++asked > after; };
    const CalibrationResult result = part.run(begun);
    CHECK((result.end == CalibrationEnd::cancelled) == (after < 1000));
    CHECK(result.profile.complete == (after == 1000));
    begun = result.profile;
    log.insert(log.end(), part.device.log.begin(), part.device.log.end());
  }
  CHECK(to_yaml(*begun) == expected);
  CHECK(log.size() == all);
  std::sort(log.begin(), log.end());
  CHECK(std::adjacent_find(log.begin(), log.end()) == log.end());
}

TEST_CASE("shapes that always break the device keep no other from being measured, if that is resumed") {
  Bench whole;
  whole.request.groups = {OperatorGroup::memory, OperatorGroup::optimizer};
  const std::size_t all = points(whole.run().profile);
  const std::string bad = whole.device.log[3], other = whole.device.log[5];

  // The first two sessions end at a shape each; then all others are measured before these are tried again, one in a
  // session. After that the calibration has ended, and another session tries nothing.
  const std::size_t found[] = {3, 4, all - 2, all - 2, all - 2};
  std::optional<CalibrationProfile> begun;
  for (int session = 0; session < 5; ++session) {
    CAPTURE(session);
    Bench part;
    part.request.groups = whole.request.groups;
    part.device.run = [&](const contend_operation&, int) {
      return part.device.log.back() == bad || part.device.log.back() == other ? CONTEND_BROKEN : CONTEND_OK;
    };
    const CalibrationResult result = part.run(begun);
    const bool has_ended = session >= 3;
    CHECK(result.end == (has_ended ? CalibrationEnd::finished : CalibrationEnd::device_broken));
    CHECK(result.profile.complete == has_ended);
    begun = result.profile;
    CHECK(points(*begun) == found[session]);
    if (session == 4) CHECK(part.device.log.empty());
  }
  REQUIRE(begun->skipped.size() == 2);
  for (const SkippedOperation& each : begun->skipped)
    CHECK(each.reason.starts_with("the device broke a second time: "));
}

TEST_CASE("another group is added to a profile, operators skipped there are tried again") {
  Bench first;
  first.device.prepare = [](const contend_operation& operation) {
    return operation.shape[0] > (1 << 20) ? CONTEND_OUT_OF_MEMORY : CONTEND_OK;
  };
  CalibrationProfile begun = first.run().profile;
  CHECK(begun.skipped.size() == 6);
  Bench second;
  second.request.groups = {OperatorGroup::optimizer};
  begun = second.run(begun).profile;
  CHECK(begun.skipped.size() == 6);
  CHECK(begun.tables.size() == 3 + 3);
  Bench third;
  begun = third.run(begun).profile;
  CHECK(begun.skipped.empty());
  CHECK(third.device.log.size() == 6);
}

TEST_CASE("a profile of something else is no beginning") {
  Bench bench;
  CalibrationProfile begun = bench.run().profile;
  begun.device = "Fake 2";
  begun.mode = "full";
  try {
    static_cast<void>(bench.run(begun));
    FAIL("taken");
  } catch (const InputError& error) {
    REQUIRE(error.complaints().size() == 2);
    CHECK(error.complaints()[0].key == "device");
    CHECK(error.complaints()[0].reason == "the profile says \"Fake 2\", here it is \"Fake 1\"");
    CHECK(error.complaints()[1].key == "mode");
  }
}

TEST_CASE("no device") {
  Bench bench;
  bench.device.open = CONTEND_NO_PERMISSION;
  CHECK_THROWS_WITH_AS(static_cast<void>(bench.run()), "fake answer 2", DeviceError);
  CHECK(bench.device.closed == 0);
}

TEST_CASE("names of profiles") {
  CHECK(profile_name("NVIDIA H100 80GB HBM3") == "nvidia-h100-80gb-hbm3");
  CHECK(profile_name("Intel(R) Xeon(R) CPU @ 2.20GHz") == "intel-r-xeon-r-cpu-2-20ghz");
  CHECK(profile_name("  ") == "device");
}

TEST_CASE("what calibrations of a noisy device measure, in how many executions and how long") {
  // The rules of repetition and of the budget decide these counts; whoever changes one on purpose changes them.
  struct Expected {
    CalibrationMode mode;
    double budget, noise, drift;
    std::string found;
  };
  const Expected all[] = {
      {CalibrationMode::quick, 50, 0.02, 0,
       "38288 executions, 60 points of 2081 samples, 31 skipped, 5 saved, 0 warnings, 25489 ms, 2.899"},
      {CalibrationMode::quick, 50, 0.2, 0,
       "25933 executions, 57 points of 4744 samples, 34 skipped, 8 saved, 0 warnings, 42700 ms, 6.363"},
      {CalibrationMode::quick, 3, 0.2, 0,
       "6315 executions, 8 points of 283 samples, 83 skipped, 1 saved, 0 warnings, 2970 ms, 0.963"},
      {CalibrationMode::full, 60, 0.05, 0,
       "92298 executions, 271 points of 4376 samples, 482 skipped, 11 saved, 0 warnings, 55278 ms, 49.670"},
      {CalibrationMode::quick, 20, 0.01, 2e-5,
       "35796 executions, 42 points of 748 samples, 49 skipped, 4 saved, 0 warnings, 16863 ms, 2.874"},
      {CalibrationMode::full, 4, 0.3, 0,
       "9512 executions, 19 points of 352 samples, 734 skipped, 2 saved, 0 warnings, 10045 ms, 6.626"},
  };
  for (const Expected& each : all) {
    Bench bench;
    RandomStream random{9, "noise"};
    bench.device.time = [&](const contend_operation& operation, int count) {
      const double outlier = random.uniform() < 0.03 ? 3 : 1;
      return 20 * roofline(operation, count) * random.lognormal(0, each.noise) * outlier *
             (1 + each.drift * std::min(count, 50'000));
    };
    bench.request.mode = each.mode;
    bench.request.budget_seconds = each.budget;
    bench.request.groups = {OperatorGroup::memory, OperatorGroup::attention};
    int saved = 0;
    bench.hooks.checkpoint = [&](const CalibrationProfile&) { ++saved; };
    const CalibrationResult result = bench.run();
    int repetitions = 0;
    double width = 0;
    for (const OperatorTable& table : result.profile.tables) {
      for (const OperatorSample& sample : table.samples) {
        repetitions += sample.repetitions;
        width += std::min(sample.half_width, 1.0);
      }
    }
    const std::string found =
        fmt::format("{} executions, {} points of {} samples, {} skipped, {} saved, {} warnings, {:.0f} ms, {:.3f}",
                    bench.device.executions, points(result.profile), repetitions, result.profile.skipped.size(), saved,
                    result.profile.warnings.size(), 1e3 * bench.device.now, width);
    CAPTURE(each.budget);
    CAPTURE(each.noise);
    CHECK(found == each.found);
  }
}

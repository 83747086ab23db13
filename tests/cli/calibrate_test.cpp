// `contend calibrate` as a user meets it, on the CPU.

#include "scenarios/study/profile_reader.hpp"
#include "tests/cli/program.hpp"
#include "tests/effort.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr const char* kCpu = "calibrate --backend cpu --quick ";

std::size_t points(const CalibrationProfile& profile) {
  std::size_t out = 0;
  for (const OperatorTable& each : profile.tables) out += each.samples.size();
  return out;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

}  // namespace

// calibration/end_to_end covers the kernels under sanitizers.
TEST_CASE("calibrate writes a profile that reads back, and goes on with it" *
          doctest::skip(!has_program() || kSanitized)) {
  const Workplace here;
  const Outcome first = here.contend(std::string{kCpu} + "--only memory,compression --budget 4 --name lab -o cpu.yaml");
  INFO(first.err);
  CHECK(first.code == 0);
  CHECK(contains(first.out, "top_k"));
  CHECK(contains(first.out, " GB/s"));
  const CalibrationProfile profile = read_profile(here.path("cpu.yaml"));
  CHECK(profile.name == "lab");
  CHECK(profile.backend == "cpu");
  CHECK(profile.mode == "quick");
  CHECK(profile.complete);
  REQUIRE(profile.table("copy", DataType::fp32) != nullptr);
  CHECK(profile.table("quantize8", DataType::fp32) != nullptr);
  CHECK(to_yaml(profile) == here.read("cpu.yaml"));

  const Outcome again = here.contend(std::string{kCpu} + "--only memory -o cpu.yaml");
  CHECK(again.code == 3);
  CHECK(contains(again.err, "cpu.yaml: the file exists already; --resume continues it"));
  const Outcome more = here.contend(std::string{kCpu} + "--only memory,attention --budget 4 -o cpu.yaml --resume");
  INFO(more.err);
  CHECK(more.code == 0);
  const CalibrationProfile after = read_profile(here.path("cpu.yaml"));
  CHECK(after.name == "lab");
  // On a busy machine the new group may not fit into its time; then it is listed.
  const auto is_new = [](const SkippedOperation& each) { return each.name == "attention"; };
  CHECK((after.table("attention", DataType::fp32) != nullptr ||
         std::any_of(after.skipped.begin(), after.skipped.end(), is_new)));
  // What was there is there, to the last digit.
  CHECK(after.table("copy", DataType::fp32)->samples.front().seconds ==
        profile.table("copy", DataType::fp32)->samples.front().seconds);
  CHECK(after.table("quantize8", DataType::fp32)->samples.size() ==
        profile.table("quantize8", DataType::fp32)->samples.size());
}

TEST_CASE("an interrupted calibration is marked and resumed" * doctest::skip(!has_program())) {
  const Workplace here;
  const std::string options = std::string{kCpu} + "--only gemm --budget 60 -o cpu.yaml";
  const Outcome stopped = here.contend(options, "timeout -s INT 2");
  // `timeout` itself answers 124.
  CHECK(stopped.code == 124);
  CHECK(contains(stopped.err, "contend: interrupted; the measurements so far are in cpu.yaml. To continue:\n"));
  CHECK(contains(stopped.err, "--resume\n"));
  const CalibrationProfile partial = read_profile(here.path("cpu.yaml"));
  CHECK_FALSE(partial.complete);
  const Outcome rest = here.contend(replaced(options, "--budget 60", "--budget 2 --resume"));
  INFO(rest.err);
  CHECK(rest.code == 0);
  const CalibrationProfile whole = read_profile(here.path("cpu.yaml"));
  CHECK(whole.complete);
  CHECK(points(whole) >= points(partial));
}

TEST_CASE("a killed calibration leaves a profile" * doctest::skip(!has_program())) {
  const Workplace here;
  CHECK(here.contend(std::string{kCpu} + "--only gemm --budget 60 -o cpu.yaml", "timeout -s KILL 2").code != 0);
  CHECK_FALSE(read_profile(here.path("cpu.yaml")).complete);
  for (const auto& each : std::filesystem::directory_iterator{here.path("")})
    if (each.path().extension() == ".yaml") CHECK(each.path().filename() == "cpu.yaml");
}

TEST_CASE("without a GPU" * doctest::skip(!has_program())) {
  const Workplace here;
  const Outcome outcome = here.contend("calibrate -o gpu.yaml --device 1023");
  CHECK(outcome.code == 5);
  CHECK(outcome.out.empty());
  CHECK_FALSE(std::filesystem::exists(here.path("gpu.yaml")));
  CHECK(here.contend("calibrate --backend cpu --device 1 -o cpu.yaml").code == 5);
}

TEST_CASE("calibrate refuses what means nothing" * doctest::skip(!has_program())) {
  const Workplace here;
  const auto refused = [&](const std::string& options, int code, const std::string& why) {
    const Outcome outcome = here.contend(options);
    INFO(options, ": ", outcome.err);
    CHECK(outcome.code == code);
    CHECK(contains(outcome.err, why));
  };
  refused("calibrate --backend cpu", 2, "expected -o FILE");
  refused(std::string{kCpu} + "-o a.yaml --only gem", 2, "--only: there is no group \"gem\"; did you mean \"gemm\"?");
  refused(std::string{kCpu} + "-o a.yaml --only memory,", 2, "there is no group \"\"");
  refused(std::string{kCpu} + "-o a.yaml --full", 2, "expected one of --quick and --full");
  refused(std::string{kCpu} + "-o a.yaml --budget 0", 2, "--budget: expected a whole number from 1");
  refused("calibrate --backend gpu -o a.yaml", 2, "--backend: expected cuda or cpu, got \"gpu\"");
  refused("calibrate somewhere -o a.yaml", 2, "unexpected argument \"somewhere\"");
  refused(std::string{kCpu} + "-o no/such/folder/a.yaml", 3, "no/such/folder/a.yaml");
  here.write("b.yaml", "not: a profile\n");
  refused(std::string{kCpu} + "-o b.yaml --resume", 3, "b.yaml:1:1");
}

TEST_CASE("there must be something to resume" * doctest::skip(!has_program())) {
  const Workplace here;
  const auto says = [&](const std::string& file) {
    const Outcome outcome = here.contend(std::string{kCpu} + "--only memory --budget 1 --resume -o " + file);
    CHECK(outcome.code == 3);
    CHECK_FALSE(std::filesystem::exists(here.path(file)));
    return outcome.err;
  };
  CHECK(contains(says("gpu.yaml"),
                 "gpu.yaml: --resume needs this file, but it does not exist; without --resume a new profile is begun"));
  here.write("cpu.yaml", read_file("tests/calibration/data/recorded_cpu.yaml"));
  here.write("cpus.yaml", "a: scenario\n");
  CHECK(contains(says("cpuu.yaml"), "did you mean \"cpu.yaml\"? Without --resume"));
  std::filesystem::create_directory(here.path("lab"));
  here.write("lab/h100.yaml", here.read("cpu.yaml"));
  CHECK(contains(says("lab/h10.yaml"), "did you mean \"lab/h100.yaml\"?"));
  static_cast<void>(says("no/such/folder.yaml"));
}

TEST_CASE("a calibration without a point is no success" * doctest::skip(!has_program())) {
  const Workplace here;
  // A CPU has no host that launches for it, and nobody to talk to.
  const Outcome none = here.contend(std::string{kCpu} + "--only launch,collective -o cpu.yaml");
  CHECK(none.code == 5);
  CHECK(none.out.empty());
  CHECK(contains(none.err, "contend: nothing of launch, collective could be measured; no profile is written\n"));
  CHECK(contains(none.err, "skipped: the CPU back end doesn't have it: launch\n"));
  CHECK(contains(none.err, "skipped: needs two devices: nccl_all_gather, "));
  CHECK_FALSE(std::filesystem::exists(here.path("cpu.yaml")));
  REQUIRE(here.contend(std::string{kCpu} + "--only memory --budget 2 -o cpu.yaml").code == 0);
  const Outcome more = here.contend(std::string{kCpu} + "--only launch --resume -o cpu.yaml");
  CHECK(more.code == 5);
  CHECK(contains(more.err, "nothing of launch could be measured; cpu.yaml is unchanged\n"));
  CHECK(read_profile(here.path("cpu.yaml")).table("copy", DataType::fp32) != nullptr);
}

TEST_CASE("a profile of another device is not gone on with" * doctest::skip(!has_program())) {
  const Workplace here;
  REQUIRE(here.contend(std::string{kCpu} + "--only memory --budget 1 -o cpu.yaml").code == 0);
  const CalibrationProfile profile = read_profile(here.path("cpu.yaml"));
  here.write("other.yaml", replaced(here.read("cpu.yaml"), profile.device, "Another CPU"));
  const std::string before = here.read("other.yaml");
  const Outcome outcome = here.contend(std::string{kCpu} + "--only memory -o other.yaml --resume");
  CHECK(outcome.code == 3);
  CHECK(contains(outcome.err, "other.yaml: device: the profile says \"Another CPU\", here it is"));
  CHECK(here.read("other.yaml") == before);
}

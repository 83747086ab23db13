// `contend calibrate network` as a user meets it.

#include "tests/cli/program.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// osu_allreduce among four: 50 us + 2 ns/B.
std::string osu_log() {
  std::string log = "# OSU MPI Allreduce Latency Test v7.4\n# Size       Avg Latency(us)\n";
  for (int m = 1024; m <= 1 << 20; m *= 2) log += fmt::format("{}  {:.3f}\n", m, 50 + m * 0.002);
  return log;
}

constexpr const char* kTable = "ranks,jobs,bytes,time_ms\n4,1,8000000,10\n4,2,8000000,15\n4,3,8000000,20\n";
constexpr const char* kFittedStudy =
    "schema_version: 2\ninclude: net.yaml\ntraining: {it: {model: alexnet}}\noverlap: {training: it, fusion: [{policy: "
    "wfbp}]}\n";

}  // namespace

TEST_CASE("calibrate network: from a log to a scenario that runs" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("osu.log", osu_log());
  here.write("study.yaml", kFittedStudy);
  const Outcome fitted = here.contend("calibrate network --osu-log osu.log --ranks 4 -o net.yaml --plot fit.svg");
  CAPTURE(fitted.err);
  CHECK(fitted.code == 0);
  CHECK(contains(fitted.out, "all-reduce"));
  CHECK(contains(fitted.out, "1KiB..1MiB"));
  CHECK(contains(fitted.err, "net.yaml: the whole all-reduce among 4 ranks, fitted to 1KiB to 1MiB"));
  CHECK(contains(here.read("net.yaml"),
                 "schema_version: 2\nnetwork:\n  alpha: 50us\n  beta: 2ns/B\n  formula: measured\n  fitted_bytes: "
                 "[1KiB, 1MiB]\n  fitted_workers: [4]\n"
                 "overlap:\n  workers: [4]\n"));
  CHECK(contains(here.read("fit.svg"), "</svg>"));
  const Outcome run = here.contend("run study.yaml");
  CAPTURE(run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "4 workers"));
  // Layers of AlexNet have more than 2 MiB, and biases of 256 B: 16 gradients in all.
  const std::string sizes =
      "contend: warning: study: the network costs were fitted to sizes of 1KiB to 1MiB (network.fitted_bytes); more "
      "than "
      "a factor of 2 outside are ";
  CHECK(run.err.starts_with(sizes));
  CHECK(contains(run.err, " of 16 collectives, of 256B to 144MiB, whose costs are extrapolated\n"));
  CHECK(here.contend("run study.yaml -q").err.empty());
  CHECK_FALSE(contains(here.contend("run study.yaml --json").out, "\"phases\""));
  CHECK(here.contend("run study.yaml --set network.beta=2ns/B").err.empty());
  const Outcome more = here.contend("run study.yaml --set 'overlap.workers=[4, 16]'");
  CHECK(more.code == 0);
  CHECK(contains(more.err, "contend: warning: study: the network costs were fitted to measurements among 4 ranks "));
  CHECK(contains(more.err, "all-reduces among 16 are assumed to take as long"));
  const Outcome json = here.contend("calibrate network --osu-log osu.log --json");
  CHECK(contains(json.out, "\"collective\": \"all-reduce\""));
  CHECK(contains(json.out, "\"ranks\": null"));
  CHECK(contains(
      json.err,
      "osu.log: the log does not give the number of ranks, so it is not used for the link; give it by --ranks N\n"));
  const Outcome any = here.contend("calibrate network --osu-log osu.log -o any.yaml");
  CHECK(contains(any.err, "any.yaml: the logs do not give the number of ranks (--ranks N), "));
  CHECK(contains(here.read("any.yaml"), "# the logs do not give the number of ranks"));
}

TEST_CASE("calibrate network: ranks that a log says, given again" * doctest::skip(!has_program())) {
  const Workplace here;
  const auto log_among = [](int ranks) {
    std::string log = "# OSU MPI Allreduce Latency Test v5.4.0\n# Size       Avg Latency(us)\n";
    for (int m = 1024; m <= 1 << 20; m *= 2) log += fmt::format("{},{}  {:.3f}\n", ranks, m, 10 * ranks + m * 0.002);
    return log;
  };
  here.write("four.log", log_among(4));
  here.write("eight.log", log_among(8));
  here.write("osu.log", osu_log());
  const auto says = [&](const std::string& options, int code, const std::string& err) {
    const Outcome outcome = here.contend("calibrate network " + options);
    CAPTURE(options);
    CAPTURE(outcome.err);
    CHECK(outcome.code == code);
    if (err.empty())
      CHECK(outcome.err.empty());
    else
      CHECK(contains(outcome.err, err));
  };
  says("--osu-log eight.log --ranks 8", 0, "");
  says("--osu-log eight.log --ranks 4", 2, "--ranks 4: eight.log says 8");
  // One for each log, or for each that needs it.
  says("--osu-log four.log --osu-log eight.log --ranks 4 --ranks 8", 0, "");
  says("--osu-log four.log --osu-log eight.log --ranks 8 --ranks 4", 2, "--ranks 8: four.log says 4");
  says("--osu-log four.log --osu-log eight.log --ranks 8", 2, "--ranks 8: four.log says 4");
  says("--osu-log four.log --osu-log osu.log --ranks 2", 0, "");
  says("--osu-log four.log --osu-log osu.log --ranks 4 --ranks 2", 0, "");
  says("--osu-log four.log --osu-log osu.log --ranks 2 --ranks 4", 2, "--ranks 2: four.log says 4");
  says("--osu-log four.log --osu-log osu.log --ranks 2 --ranks 4 --ranks 8", 2,
       "--ranks: given 3 times; 1 log needs it: osu.log");
  says("--osu-log four.log --osu-log eight.log --ranks 2 --ranks 4 --ranks 8", 2,
       "--ranks: given 3 times; no log needs it");
  says("--osu-log osu.log --osu-log osu.log --osu-log four.log --ranks 2 --ranks 4 --ranks 8 --ranks 4", 2,
       "--ranks: given 4 times; 2 logs need it: osu.log, osu.log");
}

TEST_CASE("calibrate network: logs that say too little are named" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("a.log", osu_log());
  here.write("b.log", osu_log());
  here.write("c.csv",
             "collective,ranks,bytes,time_us\nall-gather,2,1024,9\nall-gather,2,4096,11\nall-gather,2,8192,14\n");
  const Outcome without = here.contend("calibrate network --osu-log a.log --osu-log b.log --csv c.csv");
  CHECK(without.code == 0);
  for (const char* log : {"a.log", "b.log"})
    CHECK(contains(without.err, std::string{log} +
                                    ": the log does not give the number of ranks, so it is not used for the "
                                    "link; give it by --ranks N, once for each such log\n"));
  CHECK_FALSE(contains(without.err, "c.csv"));
  CHECK(contains(without.err,
                 "of these 2 logs, those of one collective are fitted as if their numbers of ranks were equal\n"));
  const Outcome with =
      here.contend("calibrate network --osu-log a.log --osu-log b.log --csv c.csv --ranks 4 --ranks 8");
  CHECK(with.code == 0);
  CHECK(with.err.empty());
  CHECK(contains(with.out, "all-reduce x4"));
}

TEST_CASE("calibrate network: what one size leaves untold, once for all" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("one.csv", "ranks,bytes,time_us\n2,4096,20\n4,4096,30\n8,4096,40\n");
  const Outcome fitted = here.contend("calibrate network --csv one.csv --collective all-reduce --regions 2");
  CAPTURE(fitted.err);
  CHECK(fitted.code == 0);
  CHECK(
      contains(fitted.out,
               "a single size does not separate alpha from beta, so alpha is taken as 0: all-reduce among 2, 4, 8\n"));
  CHECK(fitted.err == "--regions 2: the sizes of all-reduce among 2, 4, 8 allow 1\n");
  // Chosen sizes may be one where the log has many.
  here.write("osu.log", osu_log());
  const Outcome chosen = here.contend("calibrate network --osu-log osu.log --ranks 4 --sizes 1KiB..1KiB -o net.yaml");
  CHECK(chosen.code == 0);
  CHECK(contains(chosen.err, "net.yaml: a single size does not separate alpha from beta, so alpha is taken as 0\n"));
  here.write("empty.csv", "bytes,time_us\n");
  const Outcome empty = here.contend("calibrate network --csv empty.csv");
  CHECK(empty.code == 3);
  CHECK(contains(empty.err, "empty.csv:2: expected a row for each measurement below the header, got none"));
  CHECK(contains(empty.err, "1048576,240.5"));
}

TEST_CASE("calibrate network: several at once" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("jobs.csv", kTable);
  const Outcome fitted = here.contend("calibrate network --csv jobs.csv --collective all-reduce -o net.yaml");
  CHECK(fitted.code == 0);
  CHECK(contains(fitted.out, "penalty -0.500"));
  CHECK(contains(here.read("net.yaml"), "contention_penalty: -0.500"));
}

TEST_CASE("calibrate network refuses what means nothing" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("osu.log", osu_log());
  here.write("jobs.csv", kTable);
  const auto refused = [&](const std::string& options, int code, const std::string& why) {
    const Outcome outcome = here.contend("calibrate network " + options);
    CAPTURE(options);
    CAPTURE(outcome.err);
    CHECK(outcome.code == code);
    CHECK(contains(outcome.err, why));
  };
  refused("", 2, "expected --nccl-log, --osu-log, --csv or --profile FILE");
  refused("--osu-log osu.log --collective all-reduse", 2, "did you mean \"all-reduce\"?");
  refused("--osu-log osu.log --collective all-gather", 2, "--collective: every log names its collective");
  refused("--csv jobs.csv --collective all-reduce --ranks 8", 2, "--ranks 8: jobs.csv says 4");
  refused("--osu-log osu.log --ranks 4 --ranks 8", 2, "--ranks: given 2 times; 1 log needs it: osu.log");
  refused("--osu-log osu.log --out-of-place", 2, "--out-of-place needs an --nccl-log");
  refused("--osu-log osu.log --study jobs", 2, "--study has no effect without -o FILE");
  refused("--osu-log osu.log --sizes 1KiB", 2, "--sizes: expected FROM..TO");
  refused("--osu-log osu.log --sizes 2KiB..1KiB", 2, "ends before it begins");
  refused("--osu-log osu.log --sizes 1KiB..2KiB", 2, "--sizes applies to -o FILE");
  refused("--osu-log osu.log --at-once 2", 2, "--at-once: there are no samples of several concurrent jobs");
  refused("--osu-log osu.log --regions 5", 2, "--regions: expected a whole number from 1 to 4");
  refused("--osu-log osu.log -o osu.log", 2, "osu.log");
  refused("--osu-log jobs.csv", 3, "jobs.csv:1:1: expected the output of an OSU benchmark");
  refused("--nccl-log osu.log", 3, "osu.log:1:1: expected the output of nccl-tests, this is that of an OSU benchmark");
  refused("--csv osu.log", 3, "osu.log:1:1: expected a table");
}

TEST_CASE("calibrate network: the interference of a profile slows a study down" * doctest::skip(!has_program())) {
  const Workplace here;
  const auto profile = [](const char* beside) {
    return std::string{
               "schema_version: 1\nname: lab\nbackend: cuda\ndevice: A\ndriver: \"\"\nruntime: \"\"\nlibraries: "
               "\"\"\ndate: \"2026-11-21T18:20:51Z\"\nversion: \"1\"\nmode: quick\ncomplete: true\nmemory_bytes: "
               "1\nmultiprocessors: 1\ncapability: 90\nclock_mhz: 0\nmemory_clock_mhz: 0\nwarnings: []\noperators:\n"
               "  - {op: gemm, type: fp16, dimensions: [batch, m, n, k], samples: [[1, 64, 64, 64, 0.01, 0.01, 10]]}\n"
               "  - {op: reduce, type: fp32, dimensions: [blocks], samples: [[8, 0.001, 0.01, 10]]}\n"
               "  - {op: reduce_beside_gemm, type: fp16, dimensions: [batch, m, n, k, blocks], samples: [[1, 64, 64, "
               "64, 8, 0.0012, 0.01, 10]]}\n"
               "  - {op: gemm_beside_reduce, type: fp16, dimensions: [batch, m, n, k, blocks], samples: [[1, 64, 64, "
               "64, 8, "} +
           beside + ", 0.01, 10]]}\nskipped: []\n";
  };
  here.write("study.yaml",
             "schema_version: 1\ninclude: net.yaml\nnetwork: {alpha: 10us, beta: 0.8ns/B, formula: ring}\n"
             "training: {it: {model: resnet50}}\noverlap: {training: it, workers: [8], fusion: [{policy: ddp}]}\n");
  std::vector<std::string> found;
  for (const char* const beside : {"0.011", "0.015"}) {
    here.write("gpu.yaml", profile(beside));
    const Outcome made = here.contend("calibrate network --profile gpu.yaml -o net.yaml");
    CAPTURE(made.err);
    REQUIRE(made.code == 0);
    CHECK(contains(made.out, "gemm 1 x 64 x 64 x 64"));
    CHECK(contains(made.err, "each beside reductions of 8 blocks"));
    const Outcome run = here.contend("run study.yaml --json");
    CAPTURE(run.err);
    REQUIRE(run.code == 0);
    found.push_back(run.out);
  }
  CHECK(contains(here.read("net.yaml"), "interference: {compute: 0.500, network: 0.200}"));
  CHECK(found[0] != found[1]);
  const Outcome other = here.contend("calibrate network --profile gpu.yaml --blocks 16");
  CHECK(other.code == 3);
  CHECK(contains(other.err, "it has those of 8"));
  here.write("osu.log", osu_log());
  CHECK(here.contend("calibrate network --osu-log osu.log --blocks 16").code == 2);
}

// `contend calibrate model`, and a study on a profile, as a user meets them, on the CPU.

#include "tests/cli/program.hpp"
#include "tests/effort.hpp"
#include "tests/skip.hpp"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("the layers of a network are measured, and a study takes their times" * doctest::skip(!has_program())) {
  const Workplace here;
  const std::string command = "calibrate model lstm-ptb --sequence 2 --batch 1 --backend cpu --budget 8 -o times.csv";
  // No CPU kernel adds gradients into a table of embeddings.
  const Outcome whole = here.contend(command);
  CHECK(whole.code == 5);
  CHECK(
      contains(whole.err, "1 layer can't be measured, such as encoder:\n  embedding_backward fp32: the CPU back end "));
  CHECK(contains(whole.err, "nothing was measured; use --partial to measure and write the other layers"));
  CHECK_FALSE(std::filesystem::exists(here.path("times.csv")));
  const Outcome part = here.contend(command + " --partial");
  INFO(part.err);
  if (contains(part.err, "no time left") || contains(part.err, "too slow")) {
    skip_case("this machine is too busy to measure products");
    return;
  }
  REQUIRE(part.code == 0);
  CHECK(contains(part.err, "embedding_backward fp32 [10000, 1500, 2]: the CPU back end doesn't have it"));
  CHECK(contains(part.out, "lstm-ptb on "));
  CHECK(contains(part.out, "batch 1: 6 layers measured"));
  CHECK(contains(here.read("times.csv"), "measured in fp32 within "));
  // The layer that the table lacks is predicted.
  here.write("cpu.yaml", read_file("tests/calibration/data/recorded_cpu.yaml"));
  here.write("study.yaml",
             "schema_version: 1\ntraining: {it: {layers: times.csv, model: lstm-ptb, sequence: 2, device: {profile: "
             "cpu.yaml}}}\n"
             "overlap: {training: it, workers: [2], fusion: [wfbp]}\nnetwork: {nic: 10Gbps}\n");
  const Outcome show = here.contend("show study.yaml --layers");
  INFO(show.err);
  CHECK(show.code == 0);
  CHECK(contains(show.out, "measured 6 layers"));
  CHECK(contains(show.out, "extrapolated 1 layer "));
}

TEST_CASE("layers that can't be measured are named" * doctest::skip(!has_program() || kSanitized)) {
  const Workplace here;
  // No pooling goes back on a CPU, and a second is too little for the convolutions of four images on one thread.
  const std::string command = "calibrate model vgg16 --batch 4 --backend cpu --budget 1 -o times.csv";
  const Outcome refused = here.contend(command);
  CHECK(refused.code == 5);
  CHECK(contains(refused.err, "5 layers can't be measured, such as "));
  CHECK(contains(refused.err, "  pooling_backward fp32: the CPU back end doesn't have it\n"));
  CHECK_FALSE(std::filesystem::exists(here.path("times.csv")));
  const Outcome part = here.contend(command + " --partial");
  CHECK(contains(part.err, " layers could not be measured, such as "));
  // What is cheap may be measured, or nothing.
  CHECK((part.code == 0) == std::filesystem::exists(here.path("times.csv")));
  CHECK((part.code == 0 || contains(part.err, "use --partial to write the measured layers, of which there are none")));
}

TEST_CASE("a profile that lacks operators says for which layers, and how to measure them" *
          doctest::skip(!has_program())) {
  const Workplace here;
  std::string profile = read_file("tests/calibration/data/recorded_cpu.yaml");
  // The table of products is the last one.
  const std::size_t begin = profile.find("  - op: gemm\n"), end = profile.find("skipped:", begin);
  REQUIRE(end != std::string::npos);
  here.write("cpu.yaml", profile.erase(begin, end - begin));
  here.write("study.yaml",
             "schema_version: 1\ntraining:\n  it:\n    model: alexnet\n    device: {profile: cpu.yaml}\n"
             "overlap: {training: it, workers: [2], fusion: [wfbp]}\nnetwork: {nic: 10Gbps}\n");
  for (const char* verb : {"check", "run"}) {
    const Outcome outcome = here.contend(std::string{verb} + " study.yaml");
    INFO(outcome.err);
    CHECK(outcome.code == 3);
    CHECK(
        contains(outcome.err,
                 "study.yaml:5:13: training.it.device: the profile `recorded-cpu` has no products in fp32; it has none "
                 "at all; layers of alexnet lack gemm in fp32 (classifier.1, classifier.4, classifier.6); convolution "
                 "in fp32 (features.0, features.3, features.6 and 2 more layers); "));
    CHECK(contains(outcome.err,
                   "`contend calibrate --backend cpu --quick --only gemm,conv,elementwise -o cpu.yaml "
                   "--resume` measures them"));
  }
  // Times from a file need no products.
  here.write("times.csv", "layer,parameters,forward_us,backward_us\nfc,1000,10,20\n");
  here.write(
      "timed.yaml",
      "schema_version: 1\ntraining: {it: {layers: times.csv, device: {profile: cpu.yaml}}}\n"
      "overlap: {training: it, workers: [2], fusion: [wfbp], compression: [none, top-k]}\nnetwork: {nic: 10Gbps}\n");
  const Outcome timed = here.contend("run timed.yaml");
  INFO(timed.err);
  CHECK(timed.code == 0);
  CHECK(here.contend("check timed.yaml").code == 0);
  here.write("times.csv", "layer,parameters,forward_us,backward_us\n");
  const Outcome empty = here.contend("check timed.yaml");
  CHECK(empty.code == 3);
  CHECK(contains(empty.err,
                 "times.csv:2: expected a row for each layer below the header, got none; such as "
                 "conv1,9408,240.5,240.5\n"));
}

TEST_CASE("a study on a profile says how far it can be relied on" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("cpu.yaml", read_file("tests/calibration/data/recorded_cpu.yaml"));
  here.write("study.yaml",
             "schema_version: 1\ntraining: {it: {model: resnet18, batch: 2, device: {profile: cpu.yaml}}}\n"
             "overlap: {training: it, workers: [2], fusion: [wfbp]}\nnetwork: {nic: 10Gbps}\n");
  const Outcome run = here.contend("run study.yaml");
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "resnet18 on recorded-cpu, batch 2"));
  // There are no convolutions in the profile.
  CHECK(contains(run.err, "contend: warning: study: cpu.yaml: "));
  CHECK(contains(run.err, "need shapes beyond the measured range: conv1, bn1, "));
  CHECK(contains(run.err, "of these, it has no times at all of convolution in fp32 (conv1, "));
  CHECK(contains(run.err, "--only conv,elementwise -o cpu.yaml --resume` measures them"));
  const Outcome show = here.contend("show study.yaml --layers");
  CHECK(show.code == 0);
  CHECK(contains(show.out, "expected error of the sum: "));
  CHECK(contains(show.out, "extrapolated"));
  CHECK(contains(show.out, "calibration recorded-cpu fp32"));
  const Outcome half = here.contend("run study.yaml --set training.it.dtype=fp16");
  CHECK(half.code == 3);
  CHECK(contains(half.err, "training.it.dtype: the profile `recorded-cpu` has no products in fp16; it has fp32"));
  const Outcome sweep =
      here.contend("sweep study.yaml --set 'training.it.device=A6000,{profile: cpu.yaml}' -o sweep.sqlite");
  INFO(sweep.err);
  CHECK(sweep.code == 0);
  // The page of a folder reads the profile again, which the scenario of the folder names.
  CHECK(here.contend("run study.yaml -q -o out").code == 0);
  const Outcome page = here.contend("report out -o page.html");
  INFO(page.err);
  CHECK(page.code == 0);
  // Relative to the file that names it, whether it varies or not.
  std::filesystem::create_directory(here.path("lab"));
  here.write("lab/cpu.yaml", here.read("cpu.yaml"));
  here.write("lab/gpu.yaml",
             "name: g\nsource: a test\nvector_tflops: {fp32: 10}\nmemory: 8GiB\nmemory_bandwidth: 500GB/s\n");
  std::filesystem::remove(here.path("cpu.yaml"));
  here.write("lab/sweep.yaml",
             "schema_version: 1\ntraining: {it: {model: resnet18}}\noverlap: {training: it, fusion: [wfbp]}\nnetwork: "
             "{nic: 10Gbps}\n"
             "sweep: {grid: {training.it.device: [A6000, {profile: cpu.yaml}, {sheet: gpu.yaml}]}}\n");
  const Outcome varied = here.contend("sweep lab/sweep.yaml -o varied.sqlite");
  INFO(varied.err);
  CHECK(varied.code == 0);
  // A folder of results has the sheet in its scenario: it may be moved, and the file of the sheet may go.
  CHECK(
      here.contend("run lab/sweep.yaml --set 'sweep={}' --set 'training.it.device={sheet: lab/gpu.yaml}' -q -o lab/out")
          .code == 0);
  std::filesystem::rename(here.path("lab/out"), here.path("moved"));
  std::filesystem::remove(here.path("lab/gpu.yaml"));
  const Outcome moved = here.contend("report moved -o moved.html");
  INFO(moved.err);
  CHECK(moved.code == 0);
}

TEST_CASE("calibrate model refuses what means nothing" * doctest::skip(!has_program())) {
  const Workplace here;
  const auto refused = [&](const std::string& options, int code, const std::string& why) {
    const Outcome outcome = here.contend("calibrate model " + options);
    INFO(options, ": ", outcome.err);
    CHECK(outcome.code == code);
    CHECK(contains(outcome.err, why));
  };
  refused("resnet50", 2, "expected -o FILE");
  refused("-o a.csv", 2, "");
  refused("resnet5 -o a.csv", 2, "`contend list networks` has no \"resnet5\"; did you mean \"resnet50\"?");
  refused("resnet50 --type fp61 -o a.csv", 2, "--type: expected one of fp32, tf32");
  refused("resnet50 --batch 0 -o a.csv", 2, "--batch: expected a whole number from 1");
  refused("resnet50 --sequence 5 --backend cpu -o a.csv", 3, "");
  refused("resnet50 --backend cpu --device 1 -o a.csv", 5, "device 1 of cpu can't be measured");
  refused("resnet50 --device 1023 -o a.csv", 5, "");
}

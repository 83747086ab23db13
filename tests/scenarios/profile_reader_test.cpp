#include "scenarios/study/profile_reader.hpp"

#include "sim/error.hpp"
#include "tests/text_checks.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

const std::string kHead =
    "schema_version: 1\n"
    "name: lab\n"
    "backend: cpu\n"
    "device: \"a CPU\"\n"
    "driver: \"\"\n"
    "runtime: \"\"\n"
    "libraries: \"Eigen 3.4\"\n"
    "date: \"2026-11-21T18:20:51Z\"\n"
    "version: \"1.2\"\n"
    "mode: quick\n"
    "complete: false\n"
    "memory_bytes: 68719476736\n"
    "multiprocessors: 2\n"
    "capability: 0\n"
    "clock_mhz: 2450.5\n"
    "memory_clock_mhz: 0\n"
    "warnings: [\"busy\"]\n";

const std::string kGemm =
    "operators:\n"
    "  - op: gemm\n"
    "    type: fp32\n"
    "    cross_validation: 0.03\n"
    "    dimensions: [batch, m, n, k]\n"
    "    samples:\n"
    "      - [1, 128, 128, 256, 1.23e-05, 0.004, 12]\n"
    "      - [1, 128, 128, 512, 2.5e-05, 0.01, 9]\n";

const std::string kSkipped =
    "skipped:\n"
    "  - {op: gemm, type: fp8, shape: [], reason: \"needs a GPU\"}\n"
    "  - {op: gemm, type: fp32, shape: [1, 99999, 99999, 99999], reason: \"out of memory\"}\n";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

std::string profile_complaints(const std::string& text) {
  try {
    static_cast<void>(parse_profile(text, "gpu.yaml"));
  } catch (const InputError& error) {
    std::string all;
    for (const Complaint& each : error.complaints())
      all += fmt::format("{}:{}:{}: {}: {} {}\n", each.file, each.line, each.column, each.key, each.reason, each.hint);
    return all;
  }
  return {};
}

std::string profile_complaints(const std::string& what, const std::string& by) {
  return profile_complaints(replaced(kHead + kGemm + kSkipped, what, by));
}

}  // namespace

TEST_CASE("every member of a profile is read") {
  const CalibrationProfile profile = parse_profile(kHead + kGemm + kSkipped, "gpu.yaml");
  CHECK(profile.name == "lab");
  CHECK(profile.backend == "cpu");
  CHECK(profile.device == "a CPU");
  CHECK(profile.libraries == "Eigen 3.4");
  CHECK(profile.date == "2026-11-21T18:20:51Z");
  CHECK(profile.version == "1.2");
  CHECK(profile.mode == "quick");
  CHECK_FALSE(profile.complete);
  CHECK(profile.memory_bytes == 68'719'476'736);
  CHECK(profile.multiprocessors == 2);
  CHECK(profile.clock_mhz == 2450.5);
  CHECK(profile.warnings == std::vector<std::string>{"busy"});
  REQUIRE(profile.tables.size() == 1);
  CHECK(profile.tables[0].name == "gemm");
  CHECK(profile.tables[0].type == DataType::fp32);
  CHECK(profile.tables[0].cross_validation == 0.03);
  REQUIRE(profile.tables[0].samples.size() == 2);
  const OperatorSample& sample = profile.tables[0].samples[0];
  CHECK(sample.shape == OperatorShape{1, 128, 128, 256});
  CHECK(sample.seconds == 1.23e-05);
  CHECK(sample.half_width == 0.004);
  CHECK(sample.repetitions == 12);
  REQUIRE(profile.skipped.size() == 2);
  CHECK(profile.skipped[0].type == DataType::fp8);
  CHECK(profile.skipped[0].shape.empty());
  CHECK(profile.skipped[1].shape == OperatorShape{1, 99999, 99999, 99999});
  CHECK(profile.skipped[1].reason == "out of memory");
}

TEST_CASE("what is wrong with a profile is said with its place") {
  CHECK(contains(profile_complaints("mode: quick", "mode: quik"), "gpu.yaml:10:7: mode: expected one of quick, full"));
  CHECK(contains(profile_complaints("clock_mhz: 2450.5", "clok_mhz: 1"),
                 "gpu.yaml:15:1: clok_mhz: unknown key did you mean"));
  CHECK(contains(profile_complaints("clock_mhz: 2450.5\n", ""), "clock_mhz is missing"));
  CHECK(contains(profile_complaints("schema_version: 1", "schema_version: 2"),
                 "expected 1, the version that this program reads"));
  CHECK(contains(profile_complaints("op: gemm\n", "op: gem\n"),
                 "gpu.yaml:19:9: operators[0].op: expected the name of an operator"));
  CHECK(
      contains(profile_complaints("type: fp32\n", "type: fp64\n"), "gemm isn't measured in fp64, only in fp32, tf32"));
  CHECK(contains(profile_complaints("[batch, m, n, k]", "[m, n, k]"), "calibrate again"));
  CHECK(contains(profile_complaints("op: gemm, type: fp8", "op: gem, type: fp8"), "skipped[0].op"));
  CHECK(contains(profile_complaints(kHead), "operators is missing"));
  CHECK(contains(profile_complaints("- a list"), "expected the map of a calibration profile"));
  CHECK(contains(profile_complaints(""), "expected the map of a calibration profile"));
  CHECK(contains(profile_complaints("a: ["), "not YAML"));
}

TEST_CASE("what is wrong with a sample is said with its place") {
  const auto sample = [](const std::string& text) {
    return profile_complaints("[1, 128, 128, 256, 1.23e-05, 0.004, 12]", text);
  };
  CHECK(contains(
      sample("[1, 128, 256, 1.23e-05, 0.004, 12]"),
      "gpu.yaml:24:9: operators[0].samples[0]: expected [batch, m, n, k, seconds, half_width, repetitions], got 6"));
  CHECK(contains(sample("7"), "got \"7\""));
  CHECK(contains(sample("[1, 128, 128, 256.5, 1.23e-05, 0.004, 12]"), "expected an integer for k, got \"256.5\""));
  CHECK(contains(sample("[1, 128, 0, 256, 1.23e-05, 0.004, 12]"), "expected n of 1 to"));
  CHECK(contains(sample("[1, 128, 128, 256, 0, 0.004, 12]"), "expected seconds above 0"));
  CHECK(contains(sample("[1, 128, 128, 256, nan, 0.004, 12]"), "expected seconds above 0"));
  CHECK(contains(sample("[1, 128, 128, 256, 1e-5, -1, 12]"), "expected half_width"));
  CHECK(contains(sample("[1, 128, 128, 256, 1e-5, 0, 0]"), "expected repetitions"));
  CHECK(contains(sample("[1, 128, 128, 512, 1e-5, 0, 1]"), "samples[1]: this shape has a sample already"));
}

TEST_CASE("a convolution may have no padding, and no kernel beyond its input") {
  const auto text = [](int kernel, int pad = 0) {
    return kHead + fmt::format(
                       "operators:\n  - op: convolution\n    type: fp32\n    dimensions: [batch, in_channels, height, "
                       "width, out_channels, kernel_height, kernel_width, stride, pad_height, pad_width]\n"
                       "    samples: [[1, 3, 8, 8, 4, {}, 1, 1, {}, 0, 1e-5, 0, 1]]\nskipped: []\n",
                       kernel, pad);
  };
  CHECK(profile_complaints(text(8)).empty());
  CHECK(contains(profile_complaints(text(9)), "the kernel is larger than the padded input"));
  CHECK(profile_complaints(text(10, 1)).empty());  // 8 and one on both sides
  CHECK(contains(profile_complaints(text(11, 1)), "the kernel is larger than the padded input"));
}

TEST_CASE("a table may say how much each feature of a shape matters") {
  const auto with = [](const std::string& relevance) {
    return kHead + replaced(kGemm, "    dimensions", "    relevance: " + relevance + "\n    dimensions") + kSkipped;
  };
  CHECK(parse_profile(with("[0, 1, 0.5, 0.25, 1, 0]"), "gpu.yaml").tables[0].relevance ==
        std::vector<double>{0, 1, 0.5, 0.25, 1, 0});
  const std::string expected = "expected the relevance of batch, m, n, k, bytes, flops, not all 0, got ";
  CHECK(profile_complaints(with("[1, 1, 1, 1]")).find(expected + "4 numbers") != std::string::npos);
  CHECK(profile_complaints(with("[0, 0, 0, 0, 0, 0]")).find(expected + "6 numbers") != std::string::npos);
  for (const std::string wrong : {"2", "-1", "nan", "much"})
    CHECK(profile_complaints(with("[0, 1, 0, 0, 0, " + wrong + "]")).find("a relevance from 0 to 1") !=
          std::string::npos);
  CHECK(profile_complaints(with("most")).find("expected a list") != std::string::npos);
}

TEST_CASE("a table may deviate from copies, if there are some and the operator moves bytes as they do") {
  const std::string copies =
      "  - {op: copy, type: fp32, dimensions: [bytes], samples: [[4096, 1e-6, 0, 9], [8192, 2e-6, 0, 9]]}\n";
  const auto with = [](const std::string& other, const std::string& op, const std::string& dimensions,
                       const std::string& baseline) {
    return kHead + "operators:\n" + other +
           fmt::format("  - op: {}\n    type: fp32\n    baseline: {}\n    dimensions: [{}]\n    samples: []\n", op,
                       baseline, dimensions) +
           "skipped: []\n";
  };
  CHECK(parse_profile(with(copies, "softmax", "rows, width", "copy"), "gpu.yaml").tables[1].from_copies);
  CHECK_FALSE(parse_profile(with(copies, "softmax", "rows, width", "roofline"), "gpu.yaml").tables[1].from_copies);
  CHECK(contains(profile_complaints(with("", "softmax", "rows, width", "copy")),
                 "gpu.yaml:21:15: operators[0].baseline: the profile has no samples of copies"));
  CHECK(contains(profile_complaints(with(copies, "softmax", "rows, width", "copies")), "expected roofline or copy"));
  CHECK(contains(profile_complaints(with(copies, "gemm", "batch, m, n, k", "copy")),
                 "operators[1]: the baseline of gemm is the roofline"));
  CHECK(contains(profile_complaints(with("", "copy", "bytes", "copy")), "the baseline of copy is the roofline"));
}

TEST_CASE("one table an operator and number format; few complaints of many") {
  CHECK(contains(profile_complaints(kHead + kGemm + kGemm.substr(kGemm.find('\n') + 1) + kSkipped),
                 "operators[1]: gemm in fp32 has a table already"));
  std::string many = kHead + kGemm;
  for (int i = 0; i < 1000; ++i) many += "      - [0, 1, 1, 1, 1, 1, 1]\n";
  CHECK(contains(profile_complaints(many + kSkipped), "980 more samples are unsound"));
}

TEST_CASE("a profile may be larger than a scenario") {
  std::string text = kHead + kGemm;
  for (int i = 1; text.size() < (1 << 20) + 1000; ++i)
    text += fmt::format("      - [1, 1024, 1024, {}, 0.000012345678901234, 0.0012345678901234, 30]\n", 10'000 + i);
  CHECK(parse_profile(text + kSkipped, "gpu.yaml").tables[0].samples.size() > 10'000);
}

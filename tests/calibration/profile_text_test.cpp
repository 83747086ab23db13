// The bytes of a profile. That they are read back is tested beside the reader (tests/scenarios).

#include "calibration/profile.hpp"

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("a profile as a file") {
  CalibrationProfile profile;
  profile.name = "lab";
  profile.backend = "cpu";
  profile.device = "A \"fast\" one\\two\n\x01";
  profile.date = "2026-11-21T18:20:51Z";
  profile.version = "0.1.0";
  profile.mode = "quick";
  profile.complete = false;
  profile.memory_bytes = 68719476736;
  profile.multiprocessors = 2;
  profile.clock_mhz = 2450.5;
  profile.warnings = {"the clock fell"};
  profile.tables = {{.name = "gemm",
                     .type = DataType::fp32,
                     .samples = {{{1, 128, 64, 32}, 1.23e-05, 0.004, 12}, {{1, 256, 64, 32}, 0.5, 0, 6}},
                     .cross_validation = 0.03,
                     .relevance = {0, 1, 0.5, 0.25, 1, 0}},
                    {.name = "copy", .type = DataType::fp32, .samples = {}, .cross_validation = -1},
                    {.name = "softmax",
                     .type = DataType::fp32,
                     .samples = {{{64, 64}, 1e-05, 0, 6}},
                     .cross_validation = -1,
                     .relevance = {},
                     .from_copies = true}};
  profile.skipped = {{.name = "gemm", .type = DataType::fp8, .shape = {}, .reason = "no"},
                     {.name = "gemm", .type = DataType::fp32, .shape = {1, 2, 3, 4}, .reason = "out of memory"}};
  CHECK(to_yaml(profile) == R"(schema_version: 1
name: "lab"
backend: cpu
device: "A \"fast\" one\\two\n\x01"
driver: ""
runtime: ""
libraries: ""
date: "2026-11-21T18:20:51Z"
version: "0.1.0"
mode: quick
complete: false
memory_bytes: 68719476736
multiprocessors: 2
capability: 0
clock_mhz: 2450.5
memory_clock_mhz: 0
power_limited_s: -1
visited_twice: 0
warnings:
  - "the clock fell"
operators:
  - op: gemm
    type: fp32
    cross_validation: 0.03
    relevance: [0, 1, 0.5, 0.25, 1, 0]
    dimensions: [batch, m, n, k]
    samples:
      - [1, 128, 64, 32, 1.23e-05, 0.004, 12]
      - [1, 256, 64, 32, 0.5, 0, 6]
  - op: copy
    type: fp32
    cross_validation: -1
    dimensions: [bytes]
    samples: []
  - op: softmax
    type: fp32
    cross_validation: -1
    baseline: copy
    dimensions: [rows, width]
    samples:
      - [64, 64, 1e-05, 0, 6]
skipped:
  - {op: gemm, type: fp8, shape: [], reason: "no"}
  - {op: gemm, type: fp32, shape: [1, 2, 3, 4], reason: "out of memory"}
)");
}

TEST_CASE("tables are found by operator and type") {
  CalibrationProfile profile;
  profile.tables = {{.name = "gemm", .type = DataType::fp32, .samples = {}},
                    {.name = "gemm", .type = DataType::fp16, .samples = {}}};
  CHECK(profile.table("gemm", DataType::fp16) == &profile.tables[1]);
  CHECK(profile.table("gemm", DataType::bf16) == nullptr);
  CHECK(profile.table("copy", DataType::fp32) == nullptr);
}

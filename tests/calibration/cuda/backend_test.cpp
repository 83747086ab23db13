// Memory, transfers, collectives, timing, and what the back end answers to requests that it can't serve.
#include "calibration/operators.hpp"
#include "tests/calibration/cuda/prepared.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include <doctest/doctest.h>

using namespace contend;

namespace {

contend_device_info open_again(int device, contend_status expected) {
  contend_device_info info{};
  char message[512] = "";
  const contend_status status = cuda().open(device, &info, message, sizeof(message));
  INFO(message);
  CHECK(status == expected);
  CHECK((status == CONTEND_OK) == (message[0] == '\0'));
  return info;
}

contend_status refusal(const char* name, const char* type, const Shape& shape, std::string& message) {
  contend_operation operation{name, type, static_cast<int>(shape.size()), {}};
  std::copy(shape.begin(), shape.end(), operation.shape);
  char text[512] = "";
  void* prepared = &operation;
  const contend_status status = cuda().prepare(&operation, &prepared, text, sizeof(text));
  CHECK(prepared == nullptr);
  message = text;
  return status;
}

/// A small size of each dimension that operators have.
std::int64_t small(std::string_view dimension) {
  if (dimension == "bytes" || dimension == "elements") return 100'000;
  if (dimension == "selected" || dimension == "launches") return 100;
  if (dimension == "batch" || dimension == "heads" || dimension == "kv_heads" || dimension == "groups" ||
      dimension == "devices" || dimension == "window")
    return 2;
  if (dimension == "stride" || dimension == "pad_height" || dimension == "pad_width") return 1;
  if (dimension == "kernel_height" || dimension == "kernel_width") return 3;
  if (dimension == "rank") return 4;
  if (dimension == "blocks") return 8;
  if (dimension == "width") return 128;
  return 64;
}

}  // namespace

TEST_CASE("the device says its name and its abilities") {
  const contend_device_info info = open_again(0, CONTEND_OK);
  CHECK(std::strlen(info.name) > 0);
  CHECK(std::strlen(info.driver) > 0);
  CHECK(info.memory_bytes > 0);
  CHECK(info.free_bytes > 0);
  CHECK(info.free_bytes <= info.memory_bytes);
  CHECK(info.multiprocessors > 0);
  CHECK(info.devices >= 1);
  CHECK(info.capability >= 75);
  contend_device_state state{};
  CHECK(cuda().state(&state) == CONTEND_OK);
  CHECK(state.clock_mhz >= 0);
  CHECK(state.other_processes >= -1);
}

TEST_CASE("a device that isn't there, then one that is") {
  open_again(1000, CONTEND_NO_DEVICE);
  open_again(-1, CONTEND_NO_DEVICE);
  contend_device_state state{};
  CHECK(cuda().state(&state) == CONTEND_FAILED);
  open_again(0, CONTEND_OK);
}

TEST_CASE("what can't be served is refused with a reason, and the next request is served") {
  std::string message;
  CHECK(refusal("fft", "fp32", {1}, message) == CONTEND_UNSUPPORTED);
  CHECK(message == "the CUDA back end has no fft");
  CHECK(refusal("sgd_fused", "fp64", {1}, message) == CONTEND_UNSUPPORTED);
  CHECK(refusal("sgd_fused", "bf16", {1}, message) == CONTEND_UNSUPPORTED);
  CHECK(refusal("gemm", "fp32", {1, 2, 3}, message) == CONTEND_UNSUPPORTED);
  CHECK(message == "gemm takes 4 dimensions, not 3");
  CHECK(refusal("gemm", "fp32", {1, 2, 0, 3}, message) == CONTEND_UNSUPPORTED);
  CHECK(refusal("top_k", "fp32", {10, 11}, message) == CONTEND_UNSUPPORTED);
  CHECK(refusal("attention", "fp32", {1, 1, 1, 8, 129}, message) == CONTEND_UNSUPPORTED);
  CHECK(refusal("nccl_all_reduce", "fp32", {1'000, 1}, message) == CONTEND_UNSUPPORTED);
  CHECK(refusal("nccl_all_reduce", "fp32", {1'000, 5'000}, message) == CONTEND_UNSUPPORTED);
  // 64 TB, and more than 64 bits can count.
  CHECK(refusal("copy", "fp32", {std::int64_t{1} << 46}, message) == CONTEND_OUT_OF_MEMORY);
  CHECK(refusal("gemm", "fp32", {1, std::int64_t{1} << 40, 1, std::int64_t{1} << 40}, message) ==
        CONTEND_OUT_OF_MEMORY);
  Prepared p("copy", "fp32", {4});
  CHECK(p.supported());
  CHECK(p.run(1) > 0);
}

TEST_CASE("refused requests leave no memory behind") {
  const std::int64_t before = open_again(0, CONTEND_OK).free_bytes;
  std::string message;
  for (int i = 0; i < 20; ++i) {
    // The first two tensors fit, the third doesn't.
    CHECK(refusal("adam_fused", "fp32", {before / 4 * 10 / 25}, message) == CONTEND_OUT_OF_MEMORY);
  }
  Prepared p("copy", "fp32", {before / 4});
  CHECK(p.supported());
}

TEST_CASE("copies within the device, and reads that see all") {
  for (const std::int64_t bytes : {4, 4'000, 1'000'004, 50'000'000}) {
    Prepared copy("copy", "fp32", {bytes}), read("read", "fp32", {bytes}), write("write", "fp32", {bytes});
    copy.poison("to");
    copy.execute();
    CHECK(copy.read("to") == copy.read("from"));
    read.poison("sums");
    read.execute();
    const Values values = read.read("from"), sums = read.read("sums");
    const double expected = std::accumulate(values.begin(), values.end(), 0.0);
    const double found = std::accumulate(sums.begin(), sums.end(), 0.0);
    // Rounding grows with the root of the number of values, of which each is about 1.
    CHECK(std::abs(found - expected) < 1e-3 + 1e-4 * std::sqrt(static_cast<double>(values.size())));
    write.poison("to");
    write.execute();
    CHECK(write.read("to") == Values(static_cast<std::size_t>((bytes + 3) / 4), 1.5));
  }
}

TEST_CASE("every operator of the table runs in every number format, or says why not") {
  for (const OperatorInfo& each : operators()) {
    Shape shape;
    for (const std::string_view dimension : each.dimensions) shape.push_back(small(dimension));
    for (const DataType type : each.types) {
      Prepared p(std::string(each.name), std::string(to_string(type)), shape);
      if (!p.supported()) continue;
      INFO(each.name << " " << to_string(type));
      CHECK(p.run(1) > 0);
      CHECK(p.run(20) > 0);
    }
  }
}

TEST_CASE("the time of several executions is the time of all together") {
  // Work of tens of microseconds and more each, so that 16 times as much takes 16 times as long but for what surrounds
  // it. The second is timed beside reductions, by a loop of its own.
  const Shape copied{100'000'000}, multiplied{1, 2048, 2048, 2048, 8};
  for (const bool beside : {false, true}) {
    INFO("beside reductions: " << beside);
    Prepared p(beside ? "gemm_beside_reduce" : "copy", "fp32", beside ? multiplied : copied);
    REQUIRE(p.supported());
    CHECK(p.run(4) > 0);
    const double few = p.run(4), many = p.run(64);
    INFO("4 took " << few << " s, 64 took " << many << " s");
    CHECK(many > 8 * few);
    CHECK(many < 32 * few);
  }
}

TEST_CASE("collectives of two devices") {
  Prepared sum("nccl_all_reduce", "fp32", {40'000, 2});
  if (!sum.supported()) return;
  const Values a = sum.read("in0"), b = sum.read("in1");
  Values expected(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) expected[i] = a[i] + b[i];
  sum.execute();
  check_close(sum.read("out0"), expected, 1e-6);
  check_close(sum.read("out1"), expected, 1e-6);

  Prepared exchange("nccl_all_to_all", "fp32", {40'000, 2});
  REQUIRE(exchange.supported());
  const Values first = exchange.read("in0"), second = exchange.read("in1");
  const auto half = static_cast<std::ptrdiff_t>(first.size() / 2);
  Values got(first.begin(), first.begin() + half);
  got.insert(got.end(), second.begin(), second.begin() + half);
  exchange.execute();
  CHECK(exchange.read("out0") == got);
}

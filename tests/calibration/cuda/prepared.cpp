#include "tests/calibration/cuda/prepared.hpp"

#include "calibration/cuda/plugin.h"
#include "calibration/cuda/testing.h"

#include <algorithm>
#include <cmath>

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

namespace contend {

const contend_backend& cuda() {
  return *contend_cuda_plugin();
}

Prepared::Prepared(const std::string& name, const std::string& type, const Shape& shape) : label_(name + " " + type) {
  for (const std::int64_t each : shape) label_ += " " + std::to_string(each);
  contend_operation operation{name.c_str(), type.c_str(), static_cast<int>(shape.size()), {}};
  std::copy(shape.begin(), shape.end(), operation.shape);
  char message[512] = "";
  const contend_status status = cuda().prepare(&operation, &prepared_, message, sizeof(message));
  INFO(label_);
  INFO(message);
  if (status == CONTEND_UNSUPPORTED) {
    MESSAGE("not here: ", label_, ": ", message);
  } else {
    REQUIRE(status == CONTEND_OK);
  }
}

Prepared::~Prepared() {
  if (prepared_ != nullptr) cuda().release(prepared_);
}

Values Prepared::read(const std::string& tensor) const {
  INFO(label_ << ", tensor " << tensor);
  const std::int64_t elements = contend_cuda_elements(prepared_, tensor.c_str());
  REQUIRE(elements >= 0);
  Values values(static_cast<std::size_t>(elements));
  REQUIRE(contend_cuda_read(prepared_, tensor.c_str(), values.data(), elements) == CONTEND_OK);
  return values;
}

void Prepared::write(const std::string& tensor, const Values& values) {
  INFO(label_ << ", tensor " << tensor);
  const auto elements = static_cast<std::int64_t>(values.size());
  REQUIRE(contend_cuda_write(prepared_, tensor.c_str(), values.data(), elements) == CONTEND_OK);
}

void Prepared::poison(const std::string& tensor) {
  write(tensor, Values(read(tensor).size(), 77));
}

void Prepared::execute() {
  char message[512] = "";
  const contend_status status = contend_cuda_execute(prepared_, message, sizeof(message));
  INFO(label_);
  INFO(message);
  REQUIRE(status == CONTEND_OK);
}

double Prepared::run(int launches) {
  char message[512] = "";
  double seconds = -1;
  const contend_status status = cuda().run(prepared_, launches, &seconds, message, sizeof(message));
  INFO(label_);
  INFO(message);
  REQUIRE(status == CONTEND_OK);
  return seconds;
}

void check_close(const Values& found, const Values& expected, double tolerance) {
  REQUIRE(found.size() == expected.size());
  double largest = 0, worst = 0;
  std::size_t where = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    const double difference = std::abs(found[i] - expected[i]);
    if (!(difference <= worst)) {  // also if it is not a number
      worst = difference;
      where = i;
    }
  }
  INFO("element " << where << " is " << found[where] << " and should be " << expected[where]);
  CHECK(worst <= tolerance * std::max(largest, 1e-12));
}

double tolerance_of(const std::string& type) {
  if (type == "fp32") return 1e-4;
  if (type == "tf32") return 3e-3;  // 10 bits of mantissa
  if (type == "fp16") return 3e-3;
  return 2e-2;  // 7 bits; fp8 products are written as bf16
}

}  // namespace contend

int main(int argc, char** argv) {
  contend_device_info info{};
  char message[512] = "";
  const contend_status status = contend::cuda().open(0, &info, message, sizeof(message));
  if (status == CONTEND_NO_DEVICE || status == CONTEND_NO_PERMISSION || status == CONTEND_BUSY) {
    std::printf("skipped: %s\n", message);
    return 77;
  }
  if (status != CONTEND_OK) {
    std::printf("the device can't be opened: %s\n", message);
    return 1;
  }
  std::printf("%s, driver %s, runtime %s, %s\n", info.name, info.driver, info.runtime, info.libraries);
  const int failed = doctest::Context(argc, argv).run();
  contend::cuda().close();
  return failed;
}

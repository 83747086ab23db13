#include "models/devices.hpp"

#include "sim/error.hpp"

#include <limits>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("a user's device: every fault at once") {
  Device device;
  device.tflops[1] = -3;
  device.memory_bandwidth = ByteRate{std::numeric_limits<double>::quiet_NaN()};
  try {
    validate(device);
    FAIL("accepted");
  } catch (const InputError& error) {
    const std::string text = error.what();
    CHECK(error.complaints().size() == 5);
    for (const char* part : {"a name is missing", "the fp32 peak must be at least 0 and finite", "at least one peak",
                             "the memory bandwidth must be above 0 and finite, got nan", "expected memory"}) {
      INFO(std::string{part});
      CHECK(text.find(part) != std::string::npos);
    }
  }
}

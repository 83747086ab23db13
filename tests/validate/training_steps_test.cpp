#include "validate/calibration/training_steps.hpp"

#include "tests/effort.hpp"

#include <cstdio>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("training steps come out of measured operators as stated") {
  if (kSanitized) return;  // other tests run its parts
  std::FILE* out = std::tmpfile();
  REQUIRE(out != nullptr);
  CHECK(validate_calibration(out) == 0);
  CHECK(std::ftell(out) > 1000);
  std::fclose(out);
}

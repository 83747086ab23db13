#include "validate/parallel/parallel_suite.hpp"

#include "tests/effort.hpp"

#include <cstdio>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("published iterations of models on many GPUs come out as stated") {
  if (kSanitized) return;  // other tests run its parts
  std::FILE* out = std::tmpfile();
  REQUIRE(out != nullptr);
  CHECK(validate_parallel(out) == 0);
  CHECK(std::ftell(out) > 1000);
  std::fclose(out);
}

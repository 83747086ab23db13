#include "tests/effort.hpp"
#include "tests/skip.hpp"
#include "tests/test_data.hpp"
#include "validate/ada_srsf/ada_srsf.hpp"

#include <cstdio>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("published: the suite passes on the reference data") {
  if (kSanitized) {
    skip_case("the reference data take too long with sanitizers");
    return;
  }
  if (!test_data("ada_srsf")) return;
  CHECK(validate_ada_srsf(stdout) == 0);
}

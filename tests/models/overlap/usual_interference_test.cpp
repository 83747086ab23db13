// Tests the table of usual interferences.

#include "models/overlap/usual_interference.hpp"

#include <set>
#include <string>
#include <tuple>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("each row is there once for each path, and has a source") {
  std::set<std::tuple<std::string_view, std::string_view, TransferPath>> rows;
  for (const UsualInterference& each : usual_interferences()) {
    CAPTURE(each.gpu);
    CHECK(rows.insert({each.gpu, each.library, each.path}).second);
    CHECK(each.compute >= 0);
    CHECK(each.network >= 0);
    CHECK(each.compute * each.network < 1);  // else overlapping never pays
    CHECK_FALSE(each.source.empty());
  }
}

TEST_CASE("a device is found by a part of its name, and the longest name counts") {
  const UsualInterference* const own = usual_interference("NVIDIA H100 80GB HBM3", TransferPath::between);
  REQUIRE(own != nullptr);
  CHECK(own->gpu == "H100");
  CHECK(usual_interference("V100-SXM2", TransferPath::inside) != nullptr);
  CHECK(usual_interference("V100-SXM2", TransferPath::between) == nullptr);
  CHECK(usual_interference("K80", TransferPath::between) == nullptr);
}

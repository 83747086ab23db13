#include "validate/compression/saps_volumes.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("what workers send and receive in a round is what SAPS-PSGD's authors count") {
  const std::vector<VolumeRow> rows = saps_volumes();
  CHECK(rows.size() == 8);
  for (const VolumeRow& row : rows) {
    INFO(row.name, " among ", row.workers);
    CHECK(row.ours == near(row.published));
  }
}

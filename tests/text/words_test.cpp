#include "text/words.hpp"

#include <doctest/doctest.h>

namespace contend {

TEST_CASE("a time as people say it: two or three digits and the unit that fits") {
  CHECK(spoken_time(0) == "0 s");
  CHECK(spoken_time(0.00042) == "0.42 ms");
  CHECK(spoken_time(0.34) == "340 ms");
  CHECK(spoken_time(0.9994) == "999 ms");
  CHECK(spoken_time(0.9996) == "1 s");
  CHECK(spoken_time(6.2475) == "6.2 s");
  CHECK(spoken_time(119.4) == "119 s");
  CHECK(spoken_time(119.6) == "2 min");
  CHECK(spoken_time(3064) == "51 min");
  CHECK(spoken_time(7200) == "2 h");
  CHECK(spoken_time(12600) == "3.5 h");
  CHECK(spoken_time(47.9 * 3600) == "48 h");
  CHECK(spoken_time(48 * 3600) == "2 d");
  CHECK(spoken_time(400 * 86400.0) == "400 d");
  CHECK(spoken_time(-90) == "-90 s");
}

}  // namespace contend

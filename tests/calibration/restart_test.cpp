#include "calibration/restart.hpp"

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("the command that continues a calibration resumes, with what is left of the time") {
  using Words = std::vector<std::string>;
  CHECK(resumed_command({"contend", "calibrate", "-o", "gpu.yaml"}, 7) ==
        Words{"contend", "calibrate", "-o", "gpu.yaml", "--resume", "--budget", "7"});
  CHECK(resumed_command({"contend", "calibrate", "--budget", "50", "--resume", "-o", "gpu.yaml"}, 9) ==
        Words{"contend", "calibrate", "--resume", "-o", "gpu.yaml", "--budget", "9"});
  CHECK(resumed_command({"contend", "calibrate", "--budget=50", "-o", "--quick"}, 1) ==
        Words{"contend", "calibrate", "-o", "--quick", "--resume", "--budget", "1"});
}

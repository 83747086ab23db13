// Durations so short that they would be rounded to 0.
#include "tests/text_checks.hpp"
#include "tests/traces/jobs_test_kit.hpp"
#include "traces/job_list.hpp"

#include <string>

using namespace contend;

TEST_CASE("durations: one that would be rounded to 0 is refused, one of 0 stays") {
  const std::string header = "job_id,submit_s,gpus,duration_s,attempts_s,limit_s,think_s,after\n";
  const auto complaint = [&](const std::string& row) {
    try {
      static_cast<void>(parse_job_list(header + "z,0,1,0,,,,\n" + row + "\n", "list"));
    } catch (const InputError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(complaint("a,0,1,0.000000001,0,0,0,z").empty());
  CHECK(contains(complaint("a,0,1,0.0000000001,,,,"),
                 "list:3: duration_s: expected 0, or a time of at least a nanosecond, 1e-9, got 0.0000000001"));
  CHECK(contains(complaint("a,0,1,1e-12,,,,"), "list:3: duration_s: expected 0, or a time"));
  CHECK_FALSE(contains(complaint("a,0,1,1e-10,,,,"), "decimals"));  // one mistake, one complaint
  CHECK(contains(complaint("a,0,1,5,3;1e-10,,,"), "list:3: attempts_s: expected 0, or a time"));
  CHECK(contains(complaint("a,0,1,5,,1e-10,,"), "list:3: limit_s: expected 0, or a time"));
  CHECK(contains(complaint("a,0,1,5,,,1e-10,z"), "list:3: think_s: expected 0, or a time"));
  // A part of a nanosecond is refused, of instants, too; zeros behind the ninth decimal are none.
  CHECK(contains(complaint("a,1e-12,1,5,,,,"),
                 "list:3: submit_s: expected at most 9 decimals, because times are whole nanoseconds, got 1e-12"));
  CHECK(contains(complaint("a,0,1,1.0000000001,,,,"), "list:3: duration_s: expected at most 9 decimals"));
  CHECK(contains(complaint("a,0,1,5,1.5;2.1234567891,,,"), "list:3: attempts_s: expected at most 9 decimals"));
  CHECK(complaint("a,1.1234567890,1,2.12345678900000,,,,").empty());
  // Traces, in their own units.
  CHECK(contains(trace_complaints("philly-csv", "timestamp,duration,num_gpus,cluster\n2017-10-07 01:11:39,1e-12,1,c\n"),
                 "trace:2: duration: expected 0, or a time of at least a nanosecond, got \"1e-12\""));
  CHECK(
      contains(trace_complaints("philly-csv", "timestamp,duration,num_gpus,cluster\n2017-10-07 01:11:39,5,0.0001,c\n"),
               "trace:2: num_gpus: expected a whole number, got \"0.0001\""));
}

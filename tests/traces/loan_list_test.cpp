#include "traces/loan_list.hpp"

#include "sim/error.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

std::vector<LoanChange> parsed(std::string_view text, std::int64_t headroom = 0, Time period = Time::never()) {
  return parse_loan_list(text, "loans.csv", 10, headroom, period);
}

std::string complaint_of(std::string_view text, Time period = Time::never()) {
  try {
    static_cast<void>(parsed(text, 0, period));
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

bool says(std::string_view text, std::string_view what, Time period = Time::never()) {
  const std::string complaint = complaint_of(text, period);
  CAPTURE(complaint);
  return complaint.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("loan list: numbers of servers, or loads, of which whole servers remain") {
  CHECK(parsed("time_s,lent\n0,3\n60.5,10\n") ==
        std::vector<LoanChange>{{Time{}, 3}, {Time::milliseconds(60'500), 10}});
  CHECK(parsed("load,time_s\n0.45,0\n1,60\n0,90\n", 20'000'000) ==
        std::vector<LoanChange>{{Time{}, 5}, {Time::seconds(60), 0}, {Time::seconds(90), 9}});
  CHECK(lent_at_load(10, 300'000'000, 0) == 7);  // exactly: 0.7 x 10 is 7
}

TEST_CASE("loan list: what is wrong is named with its line") {
  CHECK(says("time_s\n0\n", "no column \"lent\" or \"load\""));
  CHECK(says("time_s,lent,load\n0,1,1\n", "both columns"));
  CHECK(says("time_s,lent\n", "no rows"));
  CHECK(says("time_s,lent\n5,1\n", "expected 0 in the first row"));
  CHECK(says("time_s,lent\n0,1\n9,2\n9,3\n", "rising times"));
  CHECK(says("time_s,lent\n0,1\n1.0000000001,2\n", "expected at most 9 decimals, because times are whole nanosec"));
  CHECK(says("time_s,lent\n0,1.5\n", "whole servers"));
  CHECK(says("time_s,lent\n0,11\n", "0 to 10"));
  CHECK(says("time_s,load\n0,1.01\n", "0 to 1"));
  CHECK(says("time_s,lent\n0,1\n60,2\n", "before the end of loans.period", Time::seconds(60)));
}

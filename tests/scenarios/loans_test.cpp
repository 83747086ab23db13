// Tests the keys of servers that are lent: the schedule that they become, and what is refused.

#include "scenarios/run/scenario_loans.hpp"
#include "tests/scenarios/failure_specs.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

Scenario lending(const std::string& keys, int servers = 20) {
  return parsed("cluster: {servers: " + std::to_string(servers) + "}\nloans: {" + keys + "}\n");
}

bool refuses(const std::string& text, std::string_view part) {
  const std::string errors = errors_of(text);
  CAPTURE(errors);
  return errors.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("loans: the load is a cosine, of which whole servers are left") {
  // At the peak, 15 h, the load is 0.9, and 0.1 of it before and after noon of the other half of the day.
  const LoanSpec spec = loan_spec(lending("servers: 10, low: 0.1, high: 0.9, high_at: 15h, headroom: 0").loans);
  CHECK(spec.servers == 10);
  CHECK(spec.period == Time::seconds(86'400));
  CHECK(spec.reclaim == ReclaimRule::least_cost);
  const auto lent_at = [&](std::int64_t hour) {
    int lent = -1;
    for (const LoanChange& each : spec.changes)
      if (each.at <= Time::seconds(hour * 3600)) lent = each.lent;
    return lent;
  };
  CHECK(spec.changes.front().at == Time{});
  CHECK(lent_at(15) == 1);
  CHECK(lent_at(3) == 9);
  CHECK(lent_at(9) == 5);   // a load of 0.5, on the way up
  CHECK(lent_at(0) == 7);   // 0.5 - 0.4 cos(45 degrees) = 0.217
  CHECK(lent_at(23) == 7);  // 0.5 - 0.4 cos(60 degrees) = 0.3, and so on to the next day
  for (const LoanChange& each : spec.changes) CHECK(each.at.ns() % Time::seconds(300).ns() == 0);
  CHECK(std::ranges::is_sorted(spec.changes, {}, &LoanChange::at));
  const LoanSpec held = loan_spec(lending("servers: 10, low: 0.1, high: 0.1, headroom: 0.25, reclaim: last").loans);
  CHECK(held.changes == std::vector<LoanChange>{{Time{}, 6}});
  CHECK(held.reclaim == ReclaimRule::last);
  CHECK_FALSE(loan_spec(lending("servers: 0").loans).any());
}

TEST_CASE("loans: they reach the engine beside what fails, and without it") {
  CHECK(spec_of_failures(lending("servers: 4"), 1).loans.servers == 4);
  const Scenario both = parsed(
      "cluster: {servers: 20}\nloans: {servers: 4}\n"
      "failures: {components: [{name: s, of: server, fails: {mean: 10d}}], repair: {mean: 1h}}\n");
  CHECK(spec_of_failures(both, 1).loans.servers == 4);
  CHECK(spec_of_failures(both, 1).components.size() == 1);
  CHECK_FALSE(spec_of_failures(parsed("cluster: {servers: 20}\n"), 1).any());
}

TEST_CASE("loans: what is refused, and why") {
  CHECK(refuses("cluster: {servers: 4}\nloans: {servers: 5}\n", "5 servers are to be lent, but the cluster has 4"));
  CHECK(refuses("cluster: {servers: 4}\nloans: {servers: 2, low: 0.8, high: 0.5}\n", "0.8, above the largest, 0.5"));
  CHECK(refuses("cluster: {servers: 4}\nloans: {low: 0.8}\n", "loans.servers above 0"));
  CHECK(refuses("cluster: {servers: 4}\nloans: {servers: 2, events: a.csv, low: 0.1}\n", "no loans.events"));
  CHECK(refuses("cluster: {servers: 4}\nloans: {servers: 1}\nfailures: {spares: 1}\n", "there are spares"));
  CHECK(refuses("cluster: {servers: 4}\nloans: {servers: 1, reclaim: first}\n", "least-cost"));
}

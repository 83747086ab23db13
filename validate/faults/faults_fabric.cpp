// Flows that collide and jobs that take turns on a link: exact tables and scores worked by hand.

#include "models/fabric/collisions.hpp"
#include "network/routing/cassini.hpp"
#include "validate/faults/faults_suite.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

LinkDemand full_rate(std::int64_t period, std::int64_t from, std::int64_t until) {
  constexpr double kRate = 50;
  return {Time::nanoseconds(period), {{Time::nanoseconds(from), Time::nanoseconds(until), kRate}}};
}

}  // namespace

CheckedTable faults_fabric() {
  CheckedTable table;
  table.title = "Flows hashed to links, and CASSINI's scores of a link of 50 Gbit/s";
  struct Hashed {
    int flows, links;
    double none, fullest, rate;
  };
  for (const Hashed& row : {Hashed{4, 4, 0.093750, 2.125000, 0.511719},
                            {8, 8, 0.002403, 2.597233, 0.409994},
                            {16, 8, 0, 4.201416, 0.248727},
                            {4, 8, 0.410156, 1.648438, 0.695475}}) {
    const FlowCollisions found = flow_collisions(row.flows, row.links);
    const std::string name = fmt::format("{} flows on {} links", row.flows, row.links);
    if (row.none > 0) table.checks.push_back({name + ": no collision", row.none, found.none, 2e-4, {}});
    table.checks.push_back({name + ": flows of the fullest link", row.fullest, found.mean_fullest, 1e-6, {}});
    table.checks.push_back({name + ": rate of a barrier", row.rate, found.mean_rate, 2e-6, {}});
  }
  struct Score {
    const char* name;
    LinkDemand a, b;
    double unshifted, best;
  };
  for (const Score& row :
       {Score{"periods 40 and 60, 15 and 20 busy", full_rate(40, 0, 15), full_rate(60, 0, 20), 0.875, 0.875},
        {"period 100, both 40 busy", full_rate(100, 60, 100), full_rate(100, 60, 100), 0.6, 1},
        {"period 100, both 60 busy", full_rate(100, 0, 60), full_rate(100, 0, 60), 0.4, 0.8}}) {
    const std::vector<LinkDemand> demands{row.a, row.b};
    const std::vector<Time> together(2);
    table.checks.push_back(
        {fmt::format("{}: unshifted", row.name), row.unshifted, link_score(demands, 50, together), 1e-9, {}});
    table.checks.push_back({fmt::format("{}: shifted", row.name), row.best, best_shifts(demands, 50).score, 1e-9, {}});
  }
  return table;
}

}  // namespace contend

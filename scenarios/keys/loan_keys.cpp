#include "scenarios/keys/key_tables.hpp"

#include "scenarios/keys/key_rows.hpp"

#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

using key_rows::kDay;
using key_rows::row;

bool lends(const Scenario& scenario) {
  return scenario.loans.servers > 0;
}

bool lends_by_law(const Scenario& scenario) {
  return lends(scenario) && !scenario.loans.events;
}

ScenarioKey with(ScenarioKey key, KeyCondition holds, std::string_view needs) {
  key.conditions = {holds};
  key.needs = needs;
  return key;
}

}  // namespace

std::vector<ScenarioKey> loan_keys() {
  std::vector<ScenarioKey> keys{
      row<&LoanSetup::servers>("loans.servers", integer_codec<int>(0, 1'000'000)),
      with(row<&LoanSetup::events>("loans.events", optional_codec(path_codec(), "")), lends, "loans.servers above 0"),
      with(row<&LoanSetup::period>("loans.period", optional_codec(quantity_codec(Time::seconds(1), 365 * kDay), "")),
           lends, "loans.servers above 0"),
      with(row<&LoanSetup::headroom>("loans.headroom", number_codec(0, 1)), lends, "loans.servers above 0"),
      with(row<&LoanSetup::reclaim>("loans.reclaim",
                                    choice_codec<ReclaimRule>({{"least-cost", ReclaimRule::least_cost},
                                                               {"fewest-jobs", ReclaimRule::fewest_jobs},
                                                               {"last", ReclaimRule::last},
                                                               {"random", ReclaimRule::random}})),
           lends, "loans.servers above 0"),
  };
  for (ScenarioKey& key : std::vector<ScenarioKey>{
           row<&LoanSetup::low>("loans.low", number_codec(0, 1)),
           row<&LoanSetup::high>("loans.high", number_codec(0, 1)),
           row<&LoanSetup::high_at>("loans.high_at", quantity_codec(Time{}, 365 * kDay)),
           row<&LoanSetup::every>("loans.every", quantity_codec(Time::seconds(1), kDay)),
       })
    keys.push_back(with(std::move(key), lends_by_law, "loans.servers above 0 and no loans.events"));
  return keys;
}

std::vector<Complaint> loan_complaints(const LoanSetup& loans, const ClusterSetup& cluster,
                                       const FailureSetup& failures) {
  std::vector<Complaint> found;
  if (loans.servers == 0) return found;
  const auto add = [&](const char* key, std::string reason, const char* hint) {
    found.push_back({.key = key, .reason = std::move(reason), .hint = hint});
  };
  if (loans.servers > cluster.servers)
    add("loans.servers",
        fmt::format("{} servers are to be lent, but the cluster has {} with them", loans.servers, cluster.servers),
        "cluster.servers counts these, too");
  if (!loans.events && loans.low > loans.high)
    add("loans.low", fmt::format("the least load is {}, above the largest, {}", loans.low, loans.high), "");
  if (failures.spares + failures.cold_spares > 0)
    add("loans.servers", "there are spares, and one would stand in for a server that isn't lent",
        "leave out failures.spares and failures.cold_spares");
  return found;
}

}  // namespace contend

#include "scenarios/keys/loan_keys.hpp"

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
      row<&LoanSetup::servers>(
          "loans.servers", integer_codec<int>(0, 1'000'000),
          "servers of the cluster, the last ones, that belong to others, such as an inference cluster: they are lent "
          "while their owner doesn't need them, and out of service at other times (Lyra, EuroSys 2023)"),
      with(row<&LoanSetup::events>(
               "loans.events", optional_codec(path_codec(), ""),
               "file of what their owner needs (CSV: time_s, and load, a part of the servers, or lent, the number of "
               "servers that are lent from then on), relative to the file with this key; without it the load follows "
               "half a cosine up and down"),
           lends, "loans.servers above 0"),
      with(row<&LoanSetup::period>(
               "loans.period", optional_codec(quantity_codec(Time::seconds(1), 365 * kDay), ""),
               "time after which the load repeats itself; if it isn't given a day, and a list doesn't repeat"),
           lends, "loans.servers above 0"),
      with(row<&LoanSetup::headroom>("loans.headroom", number_codec(0, 1),
                                     "part of these servers that is kept back beyond the load"),
           lends, "loans.servers above 0"),
      with(
          row<&LoanSetup::reclaim>(
              "loans.reclaim",
              choice_codec<ReclaimRule>({{"least-cost", ReclaimRule::least_cost},
                                         {"fewest-jobs", ReclaimRule::fewest_jobs},
                                         {"last", ReclaimRule::last},
                                         {"random", ReclaimRule::random}}),
              "which lent servers go back, one after the other. least-cost: where the jobs that would be preempted "
              "have the least sum of 1 / (servers of the job), as Lyra has it; fewest-jobs: where the fewest jobs run; "
              "last: the one of the largest number"),
          lends, "loans.servers above 0"),
  };
  for (ScenarioKey& key : std::vector<ScenarioKey>{
           row<&LoanSetup::low>("loans.low", number_codec(0, 1), "least load, a part of these servers"),
           row<&LoanSetup::high>("loans.high", number_codec(0, 1), "largest load, a part of these servers"),
           row<&LoanSetup::high_at>("loans.high_at", quantity_codec(Time{}, 365 * kDay),
                                    "when the load is largest, from the start of the run on"),
           row<&LoanSetup::every>("loans.every", quantity_codec(Time::seconds(1), kDay),
                                  "time between two looks at the load"),
       })
    keys.push_back(with(std::move(key), lends_by_law, "loans.servers above 0 and no loans.events"));
  return keys;
}

std::vector<Complaint> loan_complaints(const LoanSetup& loans, const ClusterSetup& cluster,
                                       const FailureSetup& failures, const SharingSetup& sharing) {
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
  if (sharing.law != SharingKind::none)
    add("loans.servers", "jobs that share GPUs can't shrink when a server is reclaimed", "leave out sharing or loans");
  return found;
}

}  // namespace contend

#include "results/folding_report.hpp"

#include "sim/counted.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

struct Reason {
  std::string_view name;
  std::string text;
};

/// Why GPUs or servers were simulated by themselves; nothing where folding went as far as it can.
std::vector<Reason> reasons_of(const FoldingCounts& folding) {
  const UnfoldedBecause& why = folding.unfolded;
  const bool gpus = folding.simulated_gpus > folding.roles, servers = folding.simulated_servers > 1;
  std::vector<Reason> reasons;
  const auto add = [&](bool holds, std::string_view name, std::string text) {
    if (holds) reasons.push_back({name, std::move(text)});
  };
  add(why.run_does_not_fold && (gpus || servers), "run-does-not-fold",
      "all: nothing is folded without leaping, under a timeline, with jitter, or where transfers run out of time");
  if (why.run_does_not_fold) return reasons;
  add(why.single_ranks_wait && (gpus || servers), "single-ranks-wait",
      "all: single ranks wait for single ranks of another role");
  add(why.jobs_beside && gpus, "jobs-beside", "GPUs: other jobs are on some of them");
  add(why.slow_gpus && gpus, "slow-gpus", "GPUs: some are slower than others");
  add(why.network_with_routes && servers, "routes", "servers: their places in the fabric differ");
  add(why.shared_servers > 0, "shared-servers",
      fmt::format("servers: other jobs send through {} of them", why.shared_servers));
  return reasons;
}

std::string folded(int all, std::string_view noun, int simulated) {
  return fmt::format("{} as {}", counted(all, noun), simulated);
}

}  // namespace

FoldingCounts folding_of(const RunResult& run) {
  FoldingCounts sum;
  for (const JobResult& job : run.jobs) {
    if (!job.folding) continue;
    const FoldingCounts& each = *job.folding;
    sum.gpus += each.gpus;
    sum.roles += each.roles;
    sum.simulated_gpus += each.simulated_gpus;
    sum.servers += each.servers;
    sum.simulated_servers += each.simulated_servers;
    const UnfoldedBecause& why = each.unfolded;
    sum.unfolded.run_does_not_fold |= why.run_does_not_fold;
    sum.unfolded.single_ranks_wait |= why.single_ranks_wait;
    sum.unfolded.jobs_beside |= why.jobs_beside;
    sum.unfolded.slow_gpus |= why.slow_gpus;
    sum.unfolded.network_with_routes |= why.network_with_routes;
    sum.unfolded.shared_servers += why.shared_servers;
  }
  return sum;
}

std::string folding_text(const FoldingCounts& folding) {
  std::string text = folded(folding.gpus, "GPU", folding.simulated_gpus) + ", " +
                     folded(folding.servers, "server", folding.simulated_servers);
  for (const Reason& reason : reasons_of(folding)) text += "; " + reason.text;
  return text;
}

void write_folding(JsonWriter& json, const FoldingCounts& folding) {
  json.key("folding").begin_object();
  json.member("gpus", folding.gpus).member("simulated_gpus", folding.simulated_gpus);
  json.member("servers", folding.servers).member("simulated_servers", folding.simulated_servers);
  json.key("unfolded").begin_array();
  for (const Reason& reason : reasons_of(folding)) json.value(reason.name);
  json.end_array().end_object();
}

}  // namespace contend

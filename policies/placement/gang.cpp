// Consolidated, yarn and worst-fit place gangs on whole free GPUs. With p GPUs in a server, a job of at most p GPUs
// goes on one server. A job of g > p GPUs gets floor(g / p) whole servers, the ones of smallest id, and one more server
// for the remainder. The policies differ in which server takes a small job or a remainder. A job that finds no such
// servers waits.

#include "policies/placement/gang.hpp"
#include "policies/registry.hpp"

namespace contend {

namespace {

class Gang final : public PlacementPolicy {
 public:
  Gang(ServerRule alone, ServerRule remainder) : alone_{alone}, remainder_{remainder} {}

  [[nodiscard]] bool refuses_alike() const override { return true; }
  [[nodiscard]] bool ignores_progress() const override { return true; }
  [[nodiscard]] bool takes_free_gpus() const override { return true; }
  [[nodiscard]] RoomNeeded room_needed(const JobView& job, int gpus_per_server) const override {
    if (asks_for_share(job)) return {};
    return {job.gpus / gpus_per_server, job.gpus % gpus_per_server};
  }
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    if (asks_for_share(job)) return place_share(cluster, job, alone_ == &FreeServers::emptiest, chosen);
    place_gang(cluster, job, alone_, remainder_, chosen);
  }

 private:
  ServerRule alone_, remainder_;
};

}  // namespace

void place_gang(const ClusterView& cluster, const JobView& job, ServerRule alone, ServerRule remainder,
                std::vector<GpuId>& chosen) {
  FreeServers servers{cluster, job};
  const int per_server = servers.per_server();
  if (!servers.take_whole(job.gpus > per_server ? job.gpus / per_server : 0, chosen)) return;
  const int rest = job.gpus - static_cast<int>(chosen.size());
  if (rest == 0) return;
  const ServerId server = (servers.*(job.gpus > per_server ? remainder : alone))(rest);
  if (!server.valid()) return chosen.clear();
  servers.take(server, rest, chosen);
}

namespace {

std::unique_ptr<PlacementPolicy> make_consolidated(const Parameters& parameters, const PolicyContext&) {
  // Helios sorts the servers by their free GPUs, the most first, and takes the next one for the remainder.
  return std::make_unique<Gang>(&FreeServers::fullest, parameters.get<bool>("best_fit_remainder")
                                                           ? &FreeServers::fullest
                                                           : &FreeServers::emptiest);
}

std::unique_ptr<PlacementPolicy> make_yarn(const Parameters&, const PolicyContext&) {
  return std::make_unique<Gang>(&FreeServers::first, &FreeServers::first);
}

std::unique_ptr<PlacementPolicy> make_worst_fit(const Parameters&, const PolicyContext&) {
  return std::make_unique<Gang>(&FreeServers::emptiest, &FreeServers::emptiest);
}

}  // namespace

PolicyRow<PlacementPolicy> consolidated_placement() {
  static constexpr ParameterInfo kParameters[] = {
      {"best_fit_remainder", false, 0, 0,
       "the remainder of a large job goes on the fullest server that has room; false: on the emptiest, as in Helios"}};
  return {.name = "consolidated",
          .summary = "one server, the fullest that has room; larger jobs: whole servers and one for the remainder",
          .source = "Hu et al., SC 2021 (Helios)",
          .parameters = kParameters,
          .make = make_consolidated};
}

PolicyRow<PlacementPolicy> yarn_placement() {
  return {.name = "yarn",
          .summary = "the first server that has room; larger jobs: whole servers and the first one for the remainder",
          .source = "Gu et al., NSDI 2019 (Tiresias)",
          .make = make_yarn};
}

PolicyRow<PlacementPolicy> worst_fit_placement() {
  return {.name = "worst-fit",
          .summary = "one server, the emptiest; larger jobs: whole servers and one for the remainder",
          .source = "textbook",
          .make = make_worst_fit};
}

}  // namespace contend

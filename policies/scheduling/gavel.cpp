// Gavel's policies for clusters of several types of GPUs (Narayanan et al., OSDI 2020, section 4): max-min fairness,
// makespan, finish-time fairness and cost. Each is a linear program, or a sequence of them, over the shares of time
// that jobs get on each type (type_allocation.hpp). Rounds make the shares come true (rounds.hpp).

#include "policies/scheduling/packed_shares.hpp"
#include "policies/scheduling/rounds.hpp"
#include "sim/error.hpp"

#include <climits>
#include <memory>
#include <string>

#include <fmt/format.h>

namespace contend {

namespace {

enum class Objective { max_min, water_filling, agnostic, makespan, finish_time_fairness, cost, equal };

constexpr bool can_pack(Objective objective) {
  return objective == Objective::max_min || objective == Objective::water_filling || objective == Objective::makespan ||
         objective == Objective::finish_time_fairness || objective == Objective::cost;
}

class Gavel final : public RoundPolicy {
 public:
  Gavel(Objective objective, const Parameters& parameters, bool packs)
      : RoundPolicy{parameters, packs},
        objective_{objective},
        packs_{packs},
        trades_{objective == Objective::equal && parameters.get<bool>("trade")} {
    if (objective != Objective::water_filling) return;
    const auto entities = parameters.get<std::string>("entities"), within = parameters.get<std::string>("within");
    if (entities != "none" && entities != "vc" && entities != "user")
      throw InputError{Complaint{.key = "policies.scheduling.entities",
                                 .reason = fmt::format("expected none, vc or user, got \"{}\"", entities)}};
    if (within != "fairness" && within != "fifo")
      throw InputError{Complaint{.key = "policies.scheduling.within",
                                 .reason = fmt::format("expected fairness or fifo, got \"{}\"", within)}};
    if (within == "fifo" && entities == "none")
      throw InputError{Complaint{.key = "policies.scheduling.within",
                                 .reason = "fifo, but there are no entities; set entities to vc or user"}};
    entities_ = entities == "vc" ? Entities::virtual_clusters : entities == "user" ? Entities::users : Entities::none;
    first_come_ = within == "fifo";
  }

 private:
  [[nodiscard]] TimeShares divide(const TypedCluster& cluster, const ClusterView& view) override {
    if (packs_) return divide_packed(cluster, view);
    switch (objective_) {
      case Objective::max_min:
        return max_min_shares(cluster, false, false);
      case Objective::water_filling:
        if (entities_ == Entities::none) return max_min_shares(cluster, false, true);
        return hierarchical_shares(
            cluster, entities_, [&](std::int32_t entity) { return weight_of(entity, view); }, first_come_);
      case Objective::agnostic:
        return max_min_shares(cluster, true, false);
      case Objective::makespan:
        return makespan_shares(cluster);
      case Objective::finish_time_fairness:
        return finish_time_fair_shares(cluster);
      case Objective::cost:
        return least_cost_shares(cluster);
      case Objective::equal:
        break;
    }
    TimeShares shares = equal_shares(cluster, trades_);
    if (trades_) trade(cluster, shares);
    return shares;
  }

  /// Of an entity.
  [[nodiscard]] double weight_of(std::int32_t entity, const ClusterView& view) const {
    const int quota = entities_ == Entities::users ? INT_MAX : view.vc_quota(entity);
    return quota == INT_MAX || quota <= 0 ? 1.0 : static_cast<double>(quota);
  }

  [[nodiscard]] TimeShares divide_packed(const TypedCluster& cluster, const ClusterView& view) const {
    std::vector<double> levels;
    if (objective_ == Objective::water_filling && entities_ == Entities::none)
      return packed_water_fill(cluster, levels);
    if (objective_ == Objective::water_filling)
      return packed_water_fill(
          with_equal_weights(cluster),
          entity_weights(
              cluster, entities_, [&](std::int32_t entity) { return weight_of(entity, view); }, first_come_),
          levels);
    if (objective_ == Objective::makespan) return packed_makespan_shares(cluster);
    if (objective_ == Objective::finish_time_fairness) return packed_finish_time_fair_shares(cluster);
    if (objective_ == Objective::cost) return packed_least_cost_shares(cluster);
    return packed_max_min_shares(cluster);
  }

  Objective objective_;
  bool packs_, trades_;
  Entities entities_ = Entities::none;
  bool first_come_ = false;
};

template <Objective kObjective>
std::unique_ptr<SchedulingPolicy> make_gavel(const Parameters& parameters, const PolicyContext&) {
  bool packs = false;
  if constexpr (can_pack(kObjective)) packs = parameters.get<bool>("pack");
  return std::make_unique<Gavel>(kObjective, parameters, packs);
}

template <Objective kObjective>
auto gavel_row(std::string_view name, std::string_view summary, std::string_view source)
    -> PolicyRow<SchedulingPolicy> {
  static constexpr ParameterInfo kPacking[] = {kRoundParameters[0], kRoundParameters[1], kRoundParameters[2], kPack};
  return {.name = name,
          .summary = summary,
          .source = source,
          .parameters = can_pack(kObjective) ? std::span<const ParameterInfo>{kPacking} : kRoundParameters,
          .make = make_gavel<kObjective>,
          .names_types = true,
          .weighs = kObjective == Objective::cost ? Weighs::prices : Weighs::always_given};
}

}  // namespace

PolicyRow<SchedulingPolicy> max_min_scheduling() {
  return gavel_row<Objective::max_min>("max-min",
                                       "time on types of servers so that the least share of useful time is largest",
                                       "Narayanan et al., OSDI 2020 (Gavel)");
}
PolicyRow<SchedulingPolicy> max_min_water_filling_scheduling() {
  static constexpr ParameterInfo kParameters[] = {
      kRoundParameters[0],
      kRoundParameters[1],
      kRoundParameters[2],
      {"entities", std::string_view{"none"}, 0, 0,
       "who shares the cluster before their jobs do: none, vc (virtual clusters, with their quotas as weights) or "
       "user"},
      {"within", std::string_view{"fairness"}, 0, 0,
       "how the jobs of an entity share: fairness (alike) or fifo (the first as much as it can use)"},
      kPack};
  return {.name = "max-min-water-filling",
          .summary = "as max-min, and then the next least share, and so on; also of users or virtual clusters",
          .source = "Narayanan et al., OSDI 2020 (Gavel)",
          .parameters = kParameters,
          .make = make_gavel<Objective::water_filling>,
          .names_types = true};
}
PolicyRow<SchedulingPolicy> max_min_agnostic_scheduling() {
  return gavel_row<Objective::agnostic>("max-min-agnostic", "as max-min, as if jobs were as fast on all types",
                                        "Narayanan et al., OSDI 2020 (Gavel)");
}
PolicyRow<SchedulingPolicy> min_makespan_scheduling() {
  return gavel_row<Objective::makespan>("min-makespan", "time on types of servers so that all jobs are done soonest",
                                        "Narayanan et al., OSDI 2020 (Gavel)");
}
PolicyRow<SchedulingPolicy> finish_time_fairness_scheduling() {
  return gavel_row<Objective::finish_time_fairness>(
      "finish-time-fairness", "time on types of servers so that the worst finish-time fairness is best",
      "Mahajan et al., NSDI 2020; Narayanan et al., OSDI 2020 (Gavel)");
}
PolicyRow<SchedulingPolicy> min_cost_scheduling() {
  return gavel_row<Objective::cost>("min-cost", "most work for the price of the GPUs, with time for deadlines",
                                    "Narayanan et al., OSDI 2020 (Gavel)");
}
PolicyRow<SchedulingPolicy> gandiva_fair_scheduling() {
  static constexpr ParameterInfo kParameters[] = {
      kRoundParameters[0],
      kRoundParameters[1],
      kRoundParameters[2],
      {"trade", true, 0, 0,
       "jobs trade fast GPUs for slow ones, so that both gain; false: equal time, as in Shockwave's released code"}};
  return {.name = "gandiva-fair",
          .summary = "equal parts of all types of servers, which jobs trade so that both gain",
          .source = "Chaudhary et al., EuroSys 2020; released code of Shockwave",
          .parameters = kParameters,
          .make = make_gavel<Objective::equal>,
          .names_types = true};
}

}  // namespace contend

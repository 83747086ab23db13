#pragma once
// The tables of policies. Each policy describes itself in its own file in policies/<kind>/: name, summary, source,
// parameters and factory. policies/list.def lists them; this header gives them to the rest of the program. The scenario
// reader, the JSON Schema, `contend list policies` and the reference pages follow from the tables.

#include "models/overlap/compression_method.hpp"
#include "policies/fusion/fusion_policy.hpp"
#include "policies/pipeline/pipeline_schedule.hpp"
#include "policies/policy_row.hpp"
#include "sim/ports.hpp"

#include <memory>
#include <span>

namespace contend {

/// All policies of a kind, in the order of policies/list.def.
[[nodiscard]] std::span<const PolicyRow<SchedulingPolicy>> scheduling_policies();
[[nodiscard]] std::span<const PolicyRow<PlacementPolicy>> placement_policies();
[[nodiscard]] std::span<const PolicyRow<CommunicationPolicy>> communication_policies();
[[nodiscard]] std::span<const PolicyRow<FusionPolicy>> fusion_policies();
/// The factory of the first one, `none`, returns a nullptr.
[[nodiscard]] std::span<const PolicyRow<CompressionMethod>> compression_policies();
[[nodiscard]] std::span<const PolicyRow<PipelineSchedule>> pipeline_schedules();

/// Makes the policy of a row with these parameters. A scheduling policy that does not compare virtual clusters gets an
/// instance for each owner of servers (policies/scheduling/by_owner.hpp), unless it is outside of the program.
template <class Port>
[[nodiscard]] std::unique_ptr<Port> make_from(const PolicyRow<Port>& row, const Parameters& parameters,
                                              const PolicyContext& context) {
  return row.make(parameters, context);
}
template <>
[[nodiscard]] std::unique_ptr<SchedulingPolicy> make_from(const PolicyRow<SchedulingPolicy>& row,
                                                          const Parameters& parameters, const PolicyContext& context);

}  // namespace contend

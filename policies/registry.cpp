#include "policies/registry.hpp"

#include "sim/check.hpp"

namespace contend {

#define SCHEDULING(name) PolicyRow<SchedulingPolicy> name##_scheduling();
#define PLACEMENT(name) PolicyRow<PlacementPolicy> name##_placement();
#define COMMUNICATION(name) PolicyRow<CommunicationPolicy> name##_communication();
#define FUSION(name) PolicyRow<FusionPolicy> name##_fusion();
#define COMPRESSION(name) PolicyRow<CompressionMethod> name##_compression();
#define PIPELINE(name) PolicyRow<PipelineSchedule> name##_pipeline();
#include "policies/list.def"

std::span<const PolicyRow<SchedulingPolicy>> scheduling_policies() {
  static const PolicyRow<SchedulingPolicy> rows[] = {
#define SCHEDULING(name) name##_scheduling(),
#include "policies/list.def"
  };
  return rows;
}

std::span<const PolicyRow<PlacementPolicy>> placement_policies() {
  static const PolicyRow<PlacementPolicy> rows[] = {
#define PLACEMENT(name) name##_placement(),
#include "policies/list.def"
  };
  return rows;
}

std::span<const PolicyRow<CommunicationPolicy>> communication_policies() {
  static const PolicyRow<CommunicationPolicy> rows[] = {
#define COMMUNICATION(name) name##_communication(),
#include "policies/list.def"
  };
  return rows;
}

std::span<const PolicyRow<FusionPolicy>> fusion_policies() {
  static const PolicyRow<FusionPolicy> rows[] = {
#define FUSION(name) name##_fusion(),
#include "policies/list.def"
  };
  return rows;
}

std::span<const PolicyRow<CompressionMethod>> compression_policies() {
  static const PolicyRow<CompressionMethod> rows[] = {
#define COMPRESSION(name) name##_compression(),
#include "policies/list.def"
  };
  return rows;
}

std::span<const PolicyRow<PipelineSchedule>> pipeline_schedules() {
  static const PolicyRow<PipelineSchedule> rows[] = {
#define PIPELINE(name) name##_pipeline(),
#include "policies/list.def"
  };
  return rows;
}

const ParameterValue& Parameters::find(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  check_failed(__FILE__, __LINE__, "the parameter is declared", name);
}

}  // namespace contend

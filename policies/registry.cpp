#include "policies/registry.hpp"

#include "policies/plugin.hpp"
#include "policies/scheduling/by_owner.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <memory>

#include <fmt/core.h>

namespace contend {

#define SCHEDULING(name) PolicyRow<SchedulingPolicy> name##_scheduling();
#define PLACEMENT(name) PolicyRow<PlacementPolicy> name##_placement();
#define COMMUNICATION(name) PolicyRow<CommunicationPolicy> name##_communication();
#define FUSION(name) PolicyRow<FusionPolicy> name##_fusion();
#define COMPRESSION(name) PolicyRow<CompressionMethod> name##_compression();
#define PIPELINE(name) PolicyRow<PipelineSchedule> name##_pipeline();
#include "policies/list.def"

namespace {

/// The policies of a kind: the program's, then the registered ones, which must not come after the first
/// look at the table.
template <class Port>
class Table {
 public:
  Table(std::string_view kind, std::initializer_list<PolicyRow<Port>> rows) : kind_{kind}, rows_{rows} {}

  [[nodiscard]] std::span<const PolicyRow<Port>> rows() {
    was_read_ = true;
    return rows_;
  }

  void add(const PolicyRow<Port>& row) {
    const auto refuse = [&](const char* reason) {
      throw InputError{fmt::format("the {} policy `{}` can't be registered: {}", kind_, row.name, reason)};
    };
    constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789-";
    if (row.name.empty() || row.name.find_first_not_of(kAllowed) != std::string_view::npos)
      refuse("its name must consist of lower-case letters, digits and hyphens");
    if (row.make == nullptr) refuse("it has no factory");
    if (std::ranges::any_of(rows_, [&](const auto& other) { return other.name == row.name; }))
      refuse("there is one of that name");
    if (was_read_) refuse("policies must be registered before the first scenario is read");
    rows_.push_back(row);
  }

 private:
  std::string_view kind_;
  std::vector<PolicyRow<Port>> rows_;
  std::atomic<bool> was_read_ = false;
};

Table<SchedulingPolicy>& scheduling_table() {
  static Table<SchedulingPolicy> table{"scheduling",
                                       {
#define SCHEDULING(name) name##_scheduling(),
#include "policies/list.def"
                                       }};
  return table;
}

Table<PlacementPolicy>& placement_table() {
  static Table<PlacementPolicy> table{"placement",
                                      {
#define PLACEMENT(name) name##_placement(),
#include "policies/list.def"
                                      }};
  return table;
}

Table<CommunicationPolicy>& communication_table() {
  static Table<CommunicationPolicy> table{"communication",
                                          {
#define COMMUNICATION(name) name##_communication(),
#include "policies/list.def"
                                          }};
  return table;
}

}  // namespace

std::span<const PolicyRow<SchedulingPolicy>> scheduling_policies() {
  return scheduling_table().rows();
}

std::span<const PolicyRow<PlacementPolicy>> placement_policies() {
  return placement_table().rows();
}

std::span<const PolicyRow<CommunicationPolicy>> communication_policies() {
  return communication_table().rows();
}

void register_policy(const PolicyRow<SchedulingPolicy>& row) {
  scheduling_table().add(row);
}

void register_policy(const PolicyRow<PlacementPolicy>& row) {
  placement_table().add(row);
}

void register_policy(const PolicyRow<CommunicationPolicy>& row) {
  communication_table().add(row);
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

template <>
std::unique_ptr<SchedulingPolicy> make_from(const PolicyRow<SchedulingPolicy>& row, const Parameters& parameters,
                                            const PolicyContext& context) {
  if (row.compares_vcs || row.is_outside) return row.make(parameters, context);
  return std::make_unique<ByOwner>([make = row.make, parameters, context] { return make(parameters, context); });
}

const ParameterValue& Parameters::find(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  check_failed(__FILE__, __LINE__, "the parameter is declared", name);
}

}  // namespace contend

#pragma once
// Rates of failures that operators of large clusters have published. A preset has what its source states and nothing
// else: no rate of repairs. Where a source counts what ended jobs, the time is that in which jobs used the components.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace contend {

/// Components of one kind and the mean time until one of them fails.
struct PresetRate {
  std::string_view name;
  bool is_gpu = false;  ///< of single GPUs, not of servers
  double mean_s = 0;
};

struct FailurePreset {
  std::string_view name, summary, source;
  std::vector<PresetRate> rates;
  std::optional<double> job_mean_s;  ///< running time of a job until a cause that is no component ends it
};

[[nodiscard]] std::span<const FailurePreset> failure_presets();
/// Null if there is none of that name.
[[nodiscard]] const FailurePreset* find_failure_preset(std::string_view name);

}  // namespace contend

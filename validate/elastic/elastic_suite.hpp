#pragma once
// The suite `elastic`: the optima of policies over types of servers, on Gavel's traces and measured throughputs.

#include "policies/scheduling/type_allocation.hpp"

#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Optima of all jobs of a trace at once, as a linear program solver found them, to the digits given.
struct GavelOptima {
  std::string_view trace;        ///< file of `traces/gavel/physical`, without its ending
  std::vector<double> capacity;  ///< GPUs of k80, p100, v100
  double max_min, agnostic, makespan_s, rho, work, work_for_price;
};
[[nodiscard]] std::span<const GavelOptima> gavel_optima();

/// The jobs of a trace with their throughputs; nothing if a file is not there. Throws InputError if the trace has a job
/// without throughputs.
[[nodiscard]] std::optional<TypedCluster> read_gavel_trace(const GavelOptima& optima);
/// The folder of Gavel's traces in $CONTEND_DATA, or in ../shared/data beside the project.
[[nodiscard]] std::string gavel_folder();

/// Names of the types of GPUs in Gavel's tables.
inline constexpr const char* kGavelTypes[] = {"k80", "p100", "v100"};
/// Prices of k80, p100 and v100 for an hour in Gavel's released code, of one cloud.
inline constexpr double kGavelPrices[] = {0.135, 0.43, 0.74};

/// Runs the suite. What needs data that are not there is skipped with the reason. Returns 1 if a figure is missed.
int validate_elastic(std::FILE* out);

}  // namespace contend

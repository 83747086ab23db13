#pragma once
// Random models and networks for the properties of schedules.

#include "models/overlap/problem.hpp"
#include "policies/fusion/merging.hpp"
#include "policies/registry.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend::test {

struct ProblemRange {
  int most_layers = 12;
  bool servers = true;  ///< parameter servers too, not only all-reduce
  bool penalty = true;  ///< simultaneous transfers lose or gain bandwidth
  bool levels = false;  ///< servers of several workers too
};

[[nodiscard]] OverlapProblem random_problem(std::uint64_t seed, const ProblemRange& range = {});
[[nodiscard]] std::string describe(const OverlapProblem& problem);

/// A row of the table with its usual parameters.
[[nodiscard]] std::unique_ptr<FusionPolicy> usual(const PolicyRow<FusionPolicy>& row);
/// The policy of that name; parameters as given, else as usual.
[[nodiscard]] std::unique_ptr<FusionPolicy> fusion(
    std::string_view name, const std::vector<std::pair<std::string, ParameterValue>>& given = {});
[[nodiscard]] std::unique_ptr<CompressionMethod> compression(
    std::string_view name, const std::vector<std::pair<std::string, ParameterValue>>& given = {});

/// Kernels by the roofline of V100-SXM2.
[[nodiscard]] const KernelCosts& v100_kernels();

/// The last gradient of each group.
[[nodiscard]] std::vector<std::size_t> ends(const MergePlan& plan);

}  // namespace contend::test

#pragma once
// Random models and networks for tests of the properties of schedules, and policies by name with their default
// parameters.

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
  bool servers = true;  ///< include parameter servers
  bool penalty = true;  ///< let simultaneous transfers lose or gain bandwidth
  bool levels = false;  ///< include servers of several workers
};

[[nodiscard]] OverlapProblem random_problem(std::uint64_t seed, const ProblemRange& range = {});
[[nodiscard]] std::string describe(const OverlapProblem& problem);

/// Makes the policy of the row with its default parameters.
[[nodiscard]] std::unique_ptr<FusionPolicy> usual(const PolicyRow<FusionPolicy>& row);
/// Makes the policy of that name with its default parameters, except for the given ones.
[[nodiscard]] std::unique_ptr<FusionPolicy> fusion(
    std::string_view name, const std::vector<std::pair<std::string, ParameterValue>>& given = {});
[[nodiscard]] std::unique_ptr<CompressionMethod> compression(
    std::string_view name, const std::vector<std::pair<std::string, ParameterValue>>& given = {});

/// Returns kernel costs by the roofline of V100-SXM2.
[[nodiscard]] const KernelCosts& v100_kernels();

/// Returns the last gradient of each group.
[[nodiscard]] std::vector<std::size_t> ends(const MergePlan& plan);

}  // namespace contend::test

#include "validate/workloads/first_half.hpp"

#include "models/workloads/fitted_text.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <vector>

namespace contend {

const FittedWorkload& first_half_of(std::string_view name) {
  static const std::vector<FittedWorkload> all = read_fitted_workloads(first_half_tables());
  const auto found = std::ranges::find(all, name, &FittedWorkload::name);
  CONTEND_CHECK(found != all.end(), "every list has a fit to its first half");
  return *found;
}

}  // namespace contend

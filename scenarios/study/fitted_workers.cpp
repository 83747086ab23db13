#include "scenarios/study/fitted_workers.hpp"

#include "scenarios/run/cost_formulas.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace contend {

UnfittedWorkers unfitted_workers(const NetworkSetup& network, const IterationStudy& study) {
  UnfittedWorkers out;
  if (!study.given() || !network.fitted_workers) return out;
  out.whole = cost_formula(network, exchange_of(study.entry)).basis == CostBasis::whole;
  out.fitted = *network.fitted_workers;
  const auto [least, most] = std::minmax_element(out.fitted.begin(), out.fitted.end());
  for (const int workers : study.workers) {
    const bool known = out.whole ? std::find(out.fitted.begin(), out.fitted.end(), workers) != out.fitted.end()
                                 : *least <= workers && workers <= *most;
    if (!known && workers > 1) out.workers.insert(workers);
  }
  return out;
}

std::string UnfittedWorkers::note() const {
  if (workers.empty()) return {};
  return fmt::format("the network costs were fitted to measurements among {} ranks (network.fitted_workers); {}",
                     fmt::join(fitted, ", "),
                     whole ? fmt::format("all-reduces among {} are assumed to take as long: measure them too",
                                         fmt::join(workers, ", "))
                           : fmt::format("the costs of exchanges among {} are extrapolated", fmt::join(workers, ", ")));
}

}  // namespace contend

#include "policies/compression/routes.hpp"

#include "policies/compression/kernels.hpp"
#include "sim/check.hpp"

#include <string>

namespace contend {

void add_up_values(const OverlapProblem& problem, std::int64_t elements, std::string_view what,
                   std::vector<ExchangeStage>& stages) {
  const auto name = [&](const char* collective) {
    return what.empty() ? std::string{collective} : std::string{collective} + " " + std::string{what};
  };
  const auto bytes = [&](std::int64_t values) { return Bytes{values * problem.gradient_element_bytes}; };
  const auto sum = [&](std::int64_t values) {
    const std::int64_t bits = std::int64_t{8} * problem.gradient_element_bytes;
    return ExchangeStage::kernel(name("add up"),
                                 problem.kernels->of(kernels::decode_sum(values, bits, problem.workers)));
  };
  const std::int64_t n = problem.workers, chunk = (elements + n - 1) / n;
  switch (problem.route(MessageRoute::all_reduce)) {
    case MessageRoute::all_reduce:
      stages.push_back(ExchangeStage::send(name("all-reduce"), CollectiveKind::all_reduce, bytes(elements)));
      return;
    case MessageRoute::all_gather:
      stages.push_back(ExchangeStage::send(name("all-gather"), CollectiveKind::all_gather, bytes(elements * n)));
      stages.push_back(sum(elements));
      return;
    case MessageRoute::scatter_gather:
      stages.push_back(ExchangeStage::send(name("all-to-all"), CollectiveKind::all_to_all, bytes(chunk * n)));
      stages.push_back(sum(chunk));
      stages.push_back(ExchangeStage::send(name("all-gather"), CollectiveKind::all_gather, bytes(chunk * n)));
      return;
    case MessageRoute::server:
      stages.push_back(ExchangeStage::send(name("push"), CollectiveKind::reduce, bytes(elements)));
      stages.push_back(ExchangeStage::send(name("pull"), CollectiveKind::broadcast, bytes(elements)));
      return;
    case MessageRoute::usual:
      break;
  }
  check_failed(__FILE__, __LINE__, "a route is chosen", what);
}

RouteRefusal refuse_indices() {
  return {"values at different places can't be added up on the way, and it sends values with their indices",
          "collective: all-gather"};
}

RouteRefusal refuse_few_bits() {
  return {"codes of a few bits can't be added up on the way: the sum needs more bits, or another scale",
          "collective: all-gather or scatter-gather"};
}

}  // namespace contend

#include "network/collectives/step_routes.hpp"

#include <algorithm>

namespace contend {

bool same_traffic(const Step& a, const Step& b) {
  return std::equal(a.sends.begin(), a.sends.end(), b.sends.begin(), b.sends.end(), [](const Send& x, const Send& y) {
    return x.from == y.from && x.to == y.to && x.range.bytes == y.range.bytes && x.stripe == y.stripe;
  });
}

const Route& StepRoutes::of(const Step& step, const Send& send) {
  if (router_.plans_together()) return plan_of(step)[static_cast<std::size_t>(&send - step.sends.data())];
  const std::uint64_t pair = static_cast<std::uint64_t>(send.from) * gpus_.size() + static_cast<std::uint64_t>(send.to);
  const auto [found, is_new] = by_pair_.try_emplace(pair);
  if (is_new) router_.route(gpu(send.from), gpu(send.to), label_, found->second);
  return found->second;
}

const StepRoutes::Plan& StepRoutes::plan_of(const Step& step) {
  std::shared_ptr<const Plan>& known = plans_[&step];
  if (known != nullptr) return *known;
  const Step* const before = last_;
  last_ = &step;
  if (before != nullptr && same_traffic(*before, step)) return *(known = plans_.at(before));
  std::vector<RoutedFlow> flows;
  for (const Send& send : step.sends)
    flows.push_back({gpu(send.from), gpu(send.to), label_, static_cast<double>(send.range.bytes)});
  auto plan = std::make_shared<Plan>();
  router_.route_together(flows, *plan);
  known = std::move(plan);
  return *known;
}

}  // namespace contend

#include "models/overlap/optimizers.hpp"

#include <algorithm>
#include <cmath>

namespace contend {
namespace {

constexpr Optimizer kOptimizers[] = {
    {.name = "sgd", .moved_separately = 8 + 4},
    // The sums of old momentum and gradient, and of weight and momentum, behind a scaling.
    {.name = "momentum",
     .state = 4,
     .moved_separately = 8 + 12 + 12,
     .kernel = "sgd_fused",
     .mixed_kernel = "sgd_fused"},
    // Decay; mean of gradients; decay, and sum with a square, of the mean of squares; root, quotient and sum; the
    // weight.
    {.name = "adam",
     .state = 8,
     .moved_separately = 8 + 12 + (8 + 12) + (8 + 8 + 8) + 16,
     .kernel = "adam_fused",
     .mixed_kernel = "adam_mixed"},
};

}  // namespace

std::span<const Optimizer> optimizers() {
  return kOptimizers;
}

const Optimizer* find_optimizer(std::string_view name) {
  const auto* const found = std::ranges::find(kOptimizers, name, &Optimizer::name);
  return found == std::end(kOptimizers) ? nullptr : found;
}

KernelWork update_work(const Optimizer& optimizer, double elements, std::int64_t width, bool separately) {
  if (separately) return {.bytes = static_cast<double>(optimizer.moved_separately) * elements};
  KernelWork work{.bytes = static_cast<double>(optimizer.moved()) * elements,
                  .op = width < 4 ? optimizer.mixed_kernel : optimizer.kernel};
  work.shape[0] = std::max<std::int64_t>(1, std::llround(elements));
  return work;
}

}  // namespace contend

#include "scenarios/training/optimizer_bytes.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>

namespace contend {

OptimizerBytes bytes_of(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::none:
      return {};
    case Optimizer::sgd:
      return {12, 0};
    case Optimizer::momentum:
      return {20, 4};
    case Optimizer::adam:
      return {28, 8};
  }
  check_failed(__FILE__, __LINE__, "an optimizer", "unknown");
}

KernelWork update_work(Optimizer optimizer, double elements, int width) {
  KernelWork work{.bytes = bytes_of(optimizer).moved * elements};
  if (optimizer == Optimizer::momentum)
    work.op = "sgd_fused";
  else if (optimizer == Optimizer::adam)
    work.op = width < 4 ? "adam_mixed" : "adam_fused";
  work.shape[0] = std::max<std::int64_t>(1, std::llround(elements));
  return work;
}

}  // namespace contend

#include "scenarios/training/optimizer_bytes.hpp"

#include "sim/check.hpp"

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

}  // namespace contend

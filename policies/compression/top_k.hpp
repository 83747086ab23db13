#pragma once
// The k largest values by magnitude, found exactly; of the methods that select so.

#include "policies/compression/sparse.hpp"
#include "policies/registry.hpp"

#include <cstdint>

namespace contend {

class TopK : public SparseMethod {
 public:
  /// Of the parameters, `gamma_ps`: selection takes gamma d log2(d) (published measurements,
  /// docs/models/compression.md) instead of a radix select by the roofline.
  TopK(const Parameters& parameters, double density);

 protected:
  [[nodiscard]] Time select(const KernelCosts& costs, std::int64_t d, std::int64_t k) const override;

 private:
  double gamma_ps_;
};

}  // namespace contend

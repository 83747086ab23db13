#pragma once
// TopK is the base class of methods that select exactly the k largest values by magnitude.

#include "policies/compression/sparse.hpp"
#include "policies/registry.hpp"

#include <cstdint>

namespace contend {

inline constexpr ParameterInfo kSelectionTime{
    "gamma_ps", 0.0, 0, 1e6,
    "selection takes gamma x d log2(d), in picoseconds; 0: radix select by the roofline of the device"};

class TopK : public SparseMethod {
 public:
  /// Reads the parameter `gamma_ps`, in picoseconds. If it is positive, selecting from d values takes gamma d log2(d)
  /// (published measurements, docs/models/compression.md) instead of the time of a radix select by the roofline.
  TopK(const Parameters& parameters, double density);

 protected:
  [[nodiscard]] Time select(const KernelCosts& costs, std::int64_t d, std::int64_t k) const override;

 private:
  double gamma_ps_;
};

}  // namespace contend

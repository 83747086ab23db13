#pragma once
// Maps each pass of a layer to the measured operators it executes, and to the work that remains
// (docs/models/calibration.md).

#include "calibration/operators.hpp"
#include "models/layer_work.hpp"
#include "models/layers.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace contend {

struct OperatorCall {
  std::string_view name;  ///< of operators()
  DataType type = DataType::fp32;
  OperatorShape shape;
  std::int64_t count = 1;  ///< executions in a pass, one after the other
  double share = 1;        ///< of the operator's time that an execution takes, >= 0
  /// What takes the place of the operator if the profile has no table of it; if empty, its least work does.
  std::optional<LayerWork> otherwise{};
};

/// A call of an operator of operators() with as many numbers as it has dimensions. If the operator was not measured in
/// `type`, the call is of the operator with the same work (gemm for gemm_nn in fp8), if that was; else in the type that
/// activations have in memory: fp32 for tf32, bf16 for fp8.
[[nodiscard]] OperatorCall operator_call(std::string_view name, DataType type, OperatorShape shape,
                                         std::int64_t count = 1);

/// One pass of one layer over a batch.
struct PassOperators {
  std::vector<OperatorCall> calls;
  /// Work that no operator covers: biases, and layers of which only the sizes are known.
  std::vector<LayerWork> rest;

  [[nodiscard]] bool empty() const { return calls.empty() && rest.empty(); }
};

struct LayerOperators {
  PassOperators forward;
  PassOperators backward;
};

/// The operators of a layer; `batch` >= 1. Products are computed in `type`; operator_call() says what the others do.
[[nodiscard]] LayerOperators layer_operators(const Layer& layer, int batch, DataType type);

/// The distinct calls of all layers, forward and backward, ordered by operator and shape, with their counts added up.
[[nodiscard]] std::vector<OperatorCall> distinct_calls(const LayerTable& table, int batch, DataType type);

}  // namespace contend

#pragma once
// Which measured operators the passes of a layer execute, and what is left over: docs/models/calibration.md.

#include "calibration/operators.hpp"
#include "models/layer_work.hpp"
#include "models/layers.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace contend {

struct OperatorCall {
  std::string_view name;  ///< of operators()
  DataType type = DataType::fp32;
  OperatorShape shape;
  std::int64_t count = 1;  ///< times in a pass, one after the other
};

/// One pass of one layer over a batch.
struct PassOperators {
  std::vector<OperatorCall> calls;
  /// What no operator stands for: biases, and whole layers of which only sizes are known.
  std::vector<LayerWork> rest;

  [[nodiscard]] bool empty() const { return calls.empty() && rest.empty(); }
};

struct LayerOperators {
  PassOperators forward;
  PassOperators backward;
};

/// Products are computed in `type`; an operator that isn't measured in it runs in what lies in memory between layers:
/// fp32 for tf32, bf16 for fp8. `batch` >= 1.
[[nodiscard]] LayerOperators layer_operators(const Layer& layer, int batch, DataType type);

/// The different calls of all layers, forward and backward, each once, by operator and shape; counts are summed up.
[[nodiscard]] std::vector<OperatorCall> distinct_calls(const LayerTable& table, int batch, DataType type);

}  // namespace contend

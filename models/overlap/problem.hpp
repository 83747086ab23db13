#pragma once
// An OverlapProblem is the input of a schedule of gradients within one iteration: the compute times of the layers, the
// times at which their gradients are ready, and the costs of exchanging them. The workers are data-parallel and all do
// equal work.

#include "models/layers.hpp"
#include "models/overlap/compression_method.hpp"
#include "models/overlap/exchange_cost.hpp"
#include "models/overlap/exchange_work.hpp"
#include "models/overlap/kernel_costs.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The unit that counts as one gradient: a tensor, as in frameworks, or all tensors of a layer.
enum class Granularity : std::uint8_t { tensor, layer };

/// The input of a schedule, with the work around its messages.
struct OverlapProblem : ExchangeWork {
  struct Layer {
    std::string name;
    Time forward, backward;
  };
  struct Gradient {
    std::size_t layer = 0;  ///< index into `layers`; ready when the backward task of that layer ends
    Bytes size;             ///< > 0
    std::int64_t rows = 0;  ///< of the tensor as a matrix (ParameterTensor); 0 if a gradient is several tensors
    std::int64_t columns = 0;
  };
  std::vector<Layer> layers;        ///< in forward order
  std::vector<Gradient> gradients;  ///< in the order in which they become ready: last layer first
  int workers = 1;                  ///< >= 1
  int gradient_element_bytes = 4;
  ExchangeCost cost;
  const CompressionMethod* method = nullptr;      ///< nullptr: gradients are not compressed
  MessageRoute collective = MessageRoute::usual;  ///< route of the method's messages; ignored with parameter servers
  int phase = 0;                                  ///< index into CompressionMethod::phases()
  std::optional<KernelCosts> kernels;             ///< has a value if there is a method

  /// The route of messages: through the servers if there are any, else `collective`, or `usual` if that is not set.
  [[nodiscard]] MessageRoute route(MessageRoute usual) const {
    if (cost.kind() == ExchangeKind::parameter_server) return MessageRoute::server;
    return collective == MessageRoute::usual ? usual : collective;
  }
  [[nodiscard]] Time forward() const;
  [[nodiscard]] Time backward() const;
  [[nodiscard]] Time compute() const { return forward() + backward(); }
  [[nodiscard]] Bytes gradient() const;
  [[nodiscard]] Bytes size(const GradientGroup& group) const;
  [[nodiscard]] std::int64_t elements(const GradientGroup& group) const {
    return size(group).count() / gradient_element_bytes;
  }
  /// The times at which the gradients are ready, since the start of the backward pass.
  [[nodiscard]] std::vector<Time> ready() const;
};

/// The problem of a timed model. Layers without gradients are merged into the layer before them. They come before it in
/// the backward pass, so this does not change the time at which any gradient is ready. Layers before the first gradient
/// become one layer of their own. Throws InputError if the model is invalid (validate(TimedModel)) or workers < 1.
[[nodiscard]] OverlapProblem overlap_problem(const TimedModel& model, int workers, const ExchangeCost& cost,
                                             Granularity granularity = Granularity::tensor);

}  // namespace contend

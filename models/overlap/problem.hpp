#pragma once
// What a schedule of gradients within one iteration is planned from: how long each layer computes, when its gradients
// are ready, and what it costs to exchange them. Data-parallel workers that all do the same.

#include "models/layers.hpp"
#include "models/overlap/compression_method.hpp"
#include "models/overlap/exchange_cost.hpp"
#include "models/overlap/kernel_costs.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// What counts as one gradient: a tensor, as frameworks hand them out, or all tensors of a layer.
enum class Granularity : std::uint8_t { tensor, layer };

struct OverlapProblem {
  struct Layer {
    std::string name;
    Time forward, backward;
  };
  struct Gradient {
    std::size_t layer = 0;  ///< index into `layers`; ready when the backward task of that layer ends
    Bytes size;             ///< > 0
    std::int64_t rows = 0;  ///< of the tensor as a matrix (ParameterTensor); 0 where a gradient is several tensors
    std::int64_t columns = 0;
  };
  std::vector<Layer> layers;        ///< in forward order
  std::vector<Gradient> gradients;  ///< in the order in which they become ready: last layer first
  int workers = 1;                  ///< >= 1
  int gradient_element_bytes = 4;
  ExchangeCost cost;
  const CompressionMethod* method = nullptr;      ///< how gradients are compressed; nullptr: not at all
  MessageRoute collective = MessageRoute::usual;  ///< by which the method sends; parameter servers know only one
  int phase = 0;                                  ///< index into CompressionMethod::phases()
  std::optional<KernelCosts> kernels;             ///< has a value where there is a method

  /// The route of messages: `collective`, or `usual` if that is to be as the method does, or by the servers.
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
  /// When each gradient is ready, counted from the start of the backward pass.
  [[nodiscard]] std::vector<Time> ready() const;
};

/// The problem of a timed model. Layers without gradients are added to the layer before them (in backward order they
/// come first, so no gradient is ready earlier or later for it); those before the first gradient stay one layer of
/// their own. Throws InputError if the model is not well formed (validate(TimedModel)) or workers < 1.
[[nodiscard]] OverlapProblem overlap_problem(const TimedModel& model, int workers, const ExchangeCost& cost,
                                             Granularity granularity = Granularity::tensor);

}  // namespace contend

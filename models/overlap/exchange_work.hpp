#pragma once
// What happens around the messages of an exchange beside the network: kernels of the framework, work of the host, and
// copies between GPUs and hosts.

#include "models/overlap/compression_method.hpp"
#include "models/overlap/framework_costs.hpp"
#include "models/overlap/kernel_costs.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace contend {

struct ExchangeWork {
  /// What the framework does around each message, and what times it; nothing: messages come and go for free.
  struct Framework {
    FrameworkCosts costs;
    KernelCosts kernels;
  };
  std::optional<Framework> framework{};
  double host_ns_per_value = 0;  ///< work of a thread of the host on each value before the message is sent, >= 0
  /// Rate at which each message is copied to the memory of the host before it is sent, and back when it has arrived, by
  /// what copies without a GPU, in both directions at once; nothing: the network reads and writes the memory of GPUs.
  std::optional<ByteRate> staging{};
};

/// A message of gradients, and who sums it.
struct MessageSize {
  std::size_t tensors = 1;
  Bytes bytes;            ///< before any compression
  int element_bytes = 4;  ///< of a value
  int workers = 1;        ///< among which it is exchanged
};

/// Puts the work around the stages of a message, one of which is a collective. The first collective's tensor is copied
/// to the host, and what the last one leaves is copied back.
void wrap(const ExchangeWork& work, const MessageSize& message, std::vector<ExchangeStage>& stages);

}  // namespace contend

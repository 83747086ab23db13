#pragma once
// TransferForecast is what a network model may tell ahead, so that memory is fetched into the caches of the processor
// before it is needed. No result depends on it.

#include "sim/ports.hpp"

namespace contend {

/// A network model that knows which transfer ends next derives from this, too.
class TransferForecast {
 public:
  virtual ~TransferForecast() = default;
  /// Returns the transfer that ends next unless others start or end before; none() if there is none. The engine calls
  /// it at every event, and each call may have the processor fetch a few lines of what the end will need.
  virtual TransferId foresee() = 0;
};

}  // namespace contend

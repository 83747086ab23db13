#pragma once
// Reads a device's state from NVML, the driver's management library. The library is opened at run time, because not
// every toolkit has its header and not every machine has the library; without it every value is unknown.

#include "calibration/backend.h"

#include <string>

namespace contend::cuda {

class Nvml {
 public:
  /// `bus_id` has the form that cudaDeviceGetPCIBusId() writes.
  explicit Nvml(const std::string& bus_id);
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  /// The driver's version; empty if unknown.
  std::string driver() const;
  /// Highest clocks in MHz; 0 if unknown.
  double highest_clock() const;
  double highest_memory_clock() const;
  /// Fills in the state; unknown values stay as contend_device_state specifies.
  void read(contend_device_state& state) const;

 private:
  template <class Function>
  Function* function(const char* name) const;
  double clock(const char* query, unsigned type) const;
  /// Seconds for which a policy has held the clock down; -1 if unknown.
  double violation_seconds(int policy) const;

  void* library_ = nullptr;
  void* device_ = nullptr;  ///< nvmlDevice_t; null if there is none
};

}  // namespace contend::cuda

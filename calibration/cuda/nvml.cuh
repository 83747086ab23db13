#pragma once
// What the driver's management library tells of a device. It is opened at run time, because not every toolkit has its
// header and not every machine the library; without it all is unknown.

#include "calibration/backend.h"

#include <string>

namespace contend::cuda {

class Nvml {
 public:
  /// `bus_id` as cudaDeviceGetPCIBusId() writes it.
  explicit Nvml(const std::string& bus_id);
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  /// Version of the driver, or nothing.
  std::string driver() const;
  /// Highest clocks in MHz, or 0.
  double highest_clock() const;
  double highest_memory_clock() const;
  /// Leaves what is unknown as contend_device_state says.
  void read(contend_device_state& state) const;

 private:
  template <class Function>
  Function* function(const char* name) const;
  double clock(const char* query, unsigned type) const;

  void* library_ = nullptr;
  void* device_ = nullptr;  ///< nvmlDevice_t; null if there is none
};

}  // namespace contend::cuda

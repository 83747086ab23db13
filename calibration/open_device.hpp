#pragma once
// A device of a back end that stays open as long as the object lives.

#include "calibration/backend.h"
#include "calibration/measure.hpp"

#include <array>
#include <stdexcept>
#include <string>

namespace contend {

/// Thrown if the device cannot be opened: it does not exist, the user may not use it, or another process has it for
/// itself.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class OpenDevice {
 public:
  OpenDevice(const contend_backend& backend, int number) : backend_{backend}, number_{number} {
    if (const std::string fault = open(); !fault.empty()) throw DeviceError{fault};
  }
  ~OpenDevice() {
    if (is_open_) backend_.close();
  }
  OpenDevice(const OpenDevice&) = delete;
  OpenDevice& operator=(const OpenDevice&) = delete;

  [[nodiscard]] const contend_device_info& info() const { return info_; }

 private:
  std::string open() {
    std::array<char, 256> message{};
    const contend_status status = backend_.open(number_, &info_, message.data(), message.size());
    is_open_ = status == CONTEND_OK;
    if (is_open_) return {};
    return message.front() == '\0' ? std::string{to_string(status)} : std::string{message.data()};
  }

  const contend_backend& backend_;
  int number_;
  bool is_open_ = false;
  contend_device_info info_{};
};

}  // namespace contend

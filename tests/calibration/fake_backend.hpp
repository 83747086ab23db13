#pragma once
// A device made of functions: tests say how long an operation takes and what goes wrong. A back end is a table of C
// functions, so the device that is open is a global, of one test at a time; its clock runs on simulated time.

#include "calibration/backend.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace contend {

struct FakeDevice {
  /// Seconds of one execution of the operation; `count` is the number of executions before.
  std::function<double(const contend_operation&, int count)> time = [](const contend_operation&, int) { return 1e-4; };
  /// What prepare answers.
  std::function<contend_status(const contend_operation&)> prepare = [](const contend_operation&) { return CONTEND_OK; };
  /// What run answers; `count` as above.
  std::function<contend_status(const contend_operation&, int count)> run = [](const contend_operation&, int) {
    return CONTEND_OK;
  };
  std::function<contend_device_state()> state = [] {
    contend_device_state quiet{};
    quiet.power_limited_s = quiet.heat_limited_s = -1;
    return quiet;
  };
  contend_status open = CONTEND_OK;
  contend_device_info info{};
  double overhead = 1e-6;  ///< of the host, for each call

  double now = 0;  ///< seconds
  int executions = 0, prepared = 0, released = 0, opened = 0, closed = 0;
  std::vector<std::string> log;  ///< `name type d0 d1 ...` of each prepare

  FakeDevice();
  ~FakeDevice();
  FakeDevice(const FakeDevice&) = delete;
  FakeDevice& operator=(const FakeDevice&) = delete;

  [[nodiscard]] const contend_backend& backend() const;
};

namespace fake {

inline FakeDevice* device = nullptr;

struct Ready {
  contend_operation operation;
  std::string name, type;
};

inline contend_status say(contend_status status, char* message, std::size_t size) {
  if (status != CONTEND_OK) std::snprintf(message, size, "fake answer %d", static_cast<int>(status));
  return status;
}
inline contend_status open(int, contend_device_info* info, char* message, size_t size) {
  ++device->opened;
  *info = device->info;
  return say(device->open, message, size);
}
inline void close() {
  ++device->closed;
}
inline contend_status state(contend_device_state* out) {
  *out = device->state();
  return CONTEND_OK;
}
inline contend_status prepare(const contend_operation* operation, void** prepared, char* message, size_t size) {
  device->now += device->overhead;
  std::string line = std::string{operation->name} + ' ' + operation->type;
  for (int i = 0; i < operation->dimensions; ++i) line += ' ' + std::to_string(operation->shape[i]);
  device->log.push_back(line);
  const contend_status status = device->prepare(*operation);
  if (status != CONTEND_OK) return say(status, message, size);
  ++device->prepared;
  auto* const ready = new Ready{*operation, operation->name, operation->type};
  ready->operation.name = ready->name.c_str();
  ready->operation.type = ready->type.c_str();
  *prepared = ready;
  return CONTEND_OK;
}
inline contend_status run(void* prepared, int launches, double* seconds, char* message, size_t size) {
  const contend_operation& operation = static_cast<Ready*>(prepared)->operation;
  const contend_status status = device->run(operation, device->executions);
  if (status != CONTEND_OK) return say(status, message, size);
  *seconds = 0;
  for (int i = 0; i < launches; ++i) *seconds += device->time(operation, device->executions++);
  device->now += *seconds + device->overhead;
  return CONTEND_OK;
}
inline void release(void* prepared) {
  ++device->released;
  delete static_cast<Ready*>(prepared);
}

inline constexpr contend_backend kBackend = {"fake", open, close, state, prepare, run, release};

}  // namespace fake

inline FakeDevice::FakeDevice() {
  std::snprintf(info.name, sizeof info.name, "Fake 1");
  info.memory_bytes = info.free_bytes = std::int64_t{16} << 30;
  info.devices = 1;
  fake::device = this;
}
inline FakeDevice::~FakeDevice() {
  fake::device = nullptr;
}
inline const contend_backend& FakeDevice::backend() const {
  return fake::kBackend;
}

}  // namespace contend

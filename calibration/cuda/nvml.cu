// The prototypes come from NVIDIA's NVML API reference, "Device Queries"; 0 is success in all of them.
#include "calibration/cuda/nvml.cuh"

#include <dlfcn.h>

#include <cstdio>
#include <vector>

namespace contend::cuda {

namespace {

constexpr unsigned kClockSm = 1, kClockMemory = 2;
constexpr unsigned kTemperatureGpu = 0;
constexpr int kInsufficientSize = 7;

struct Reason {
  unsigned long long bit;
  const char* text;
};
constexpr Reason kReasons[] = {{0x08, "hardware slowdown"},
                               {0x20, "heat (software slowdown)"},
                               {0x40, "heat (hardware slowdown)"},
                               {0x80, "power brake"}};

/// NVML_PERF_POLICY_POWER and NVML_PERF_POLICY_THERMAL of nvmlPerfPolicyType_t.
constexpr int kPower = 0, kThermal = 1;
/// nvmlViolationTime_t; the second is in nanoseconds.
struct ViolationTime {
  unsigned long long reference_time, violation_time;
};

/// nvmlProcessInfo_t of the second and third version of the query.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};

}  // namespace

template <class Function>
Function* Nvml::function(const char* name) const {
  return library_ == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library_, name));
}

Nvml::Nvml(const std::string& bus_id) {
  library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  auto* const init = function<int()>("nvmlInit_v2");
  auto* const find = function<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
  if (init == nullptr || find == nullptr || init() != 0) {
    if (library_ != nullptr) dlclose(library_);
    library_ = nullptr;
    return;
  }
  if (find(bus_id.c_str(), &device_) != 0) device_ = nullptr;
}

Nvml::~Nvml() {
  if (library_ == nullptr) return;
  if (auto* const shutdown = function<int()>("nvmlShutdown")) shutdown();
  dlclose(library_);
}

std::string Nvml::driver() const {
  char version[96] = "";
  auto* const query = function<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
  return query != nullptr && query(version, sizeof(version)) == 0 ? version : "";
}

double Nvml::clock(const char* query, unsigned type) const {
  unsigned mhz = 0;
  auto* const ask = function<int(void*, unsigned, unsigned*)>(query);
  return device_ != nullptr && ask != nullptr && ask(device_, type, &mhz) == 0 ? mhz : 0;
}

double Nvml::highest_clock() const {
  return clock("nvmlDeviceGetMaxClockInfo", kClockSm);
}

double Nvml::highest_memory_clock() const {
  return clock("nvmlDeviceGetMaxClockInfo", kClockMemory);
}

double Nvml::violation_seconds(int policy) const {
  ViolationTime time{};
  auto* const query = function<int(void*, int, ViolationTime*)>("nvmlDeviceGetViolationStatus");
  return device_ != nullptr && query != nullptr && query(device_, policy, &time) == 0
             ? static_cast<double>(time.violation_time) * 1e-9
             : -1;
}

void Nvml::read(contend_device_state& state) const {
  state = {};
  state.other_processes = -1;
  state.power_limited_s = violation_seconds(kPower);
  state.heat_limited_s = violation_seconds(kThermal);
  if (device_ == nullptr) return;
  state.clock_mhz = clock("nvmlDeviceGetClockInfo", kClockSm);
  state.memory_clock_mhz = clock("nvmlDeviceGetClockInfo", kClockMemory);

  unsigned value = 0;
  auto* const temperature = function<int(void*, unsigned, unsigned*)>("nvmlDeviceGetTemperature");
  if (temperature != nullptr && temperature(device_, kTemperatureGpu, &value) == 0) state.temperature_c = value;
  auto* const power = function<int(void*, unsigned*)>("nvmlDeviceGetPowerUsage");
  if (power != nullptr && power(device_, &value) == 0) state.power_w = value / 1e3;

  unsigned long long reasons = 0;
  auto* throttle = function<int(void*, unsigned long long*)>("nvmlDeviceGetCurrentClocksEventReasons");
  if (throttle == nullptr) {
    throttle = function<int(void*, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons");
  }
  if (throttle != nullptr && throttle(device_, &reasons) == 0) {
    std::string why;
    for (const Reason& each : kReasons) {
      if ((reasons & each.bit) != 0) why += (why.empty() ? "" : ", ") + std::string(each.text);
    }
    state.throttled = why.empty() ? 0 : 1;
    std::snprintf(state.throttle, sizeof(state.throttle), "%s", why.c_str());
  }

  auto* processes = function<int(void*, unsigned*, ProcessInfo*)>("nvmlDeviceGetComputeRunningProcesses_v3");
  if (processes == nullptr) {
    processes = function<int(void*, unsigned*, ProcessInfo*)>("nvmlDeviceGetComputeRunningProcesses_v2");
  }
  std::vector<ProcessInfo> found(64);
  auto count = static_cast<unsigned>(found.size());
  if (processes == nullptr) return;
  const int answer = processes(device_, &count, found.data());
  // One of them is this process, which has the device open. We can't look for its number, because in a container it
  // differs from the one that the driver knows. If even this process is not listed, others aren't either.
  if ((answer == 0 || answer == kInsufficientSize) && count > 0) state.other_processes = static_cast<int>(count) - 1;
}

}  // namespace contend::cuda

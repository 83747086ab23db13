// The CPU as a device to calibrate, on one thread, so that measuring and predicting can be tried and tested on a
// machine without a GPU. What runs beside a measured operation has a second thread, however many blocks it is given;
// the two share caches and memory. This is the only file below cli/ that reads a clock; no simulation uses it.

#include "calibration/backend.h"
#include "calibration/cpu_operations.hpp"
#include "calibration/dense.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <memory>
#include <optional>
#include <semaphore>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace contend {
namespace {

using cpu::ReadyOperation;

/// The object behind the `prepared` pointers of the interface.
struct PreparedOperation {
  cpu::Executable execute;
  cpu::Executable beside;
};

/// A thread that executes an operation over and over as long as the object lives; it has executed it once when the
/// object is made.
class BusyThread {
 public:
  explicit BusyThread(cpu::Executable& work) : thread_{[this, &work] { repeat(work); }} { warm_.acquire(); }
  ~BusyThread() {
    stop_ = true;
    thread_.join();
  }
  BusyThread(const BusyThread&) = delete;
  BusyThread& operator=(const BusyThread&) = delete;

 private:
  void repeat(cpu::Executable& work) {
    work();
    warm_.release();
    while (!stop_) work();
  }

  std::binary_semaphore warm_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

void say(const std::string& text, char* message, std::size_t size) {
  if (message != nullptr && size > 0) std::snprintf(message, size, "%s", text.c_str());
}

/// The value behind the first `key : value` of a file such as /proc/cpuinfo; empty if there is none.
std::string value_of(const char* path, const std::string& key) {
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    return line.substr(std::min(line.find_first_not_of(" \t", colon + 1), line.size()));
  }
  return {};
}

double number_at(const char* path) {
  double value = 0;
  std::ifstream{path} >> value;
  return value;
}

std::int64_t memory_of(int pages) {
  const long count = ::sysconf(pages), size = ::sysconf(_SC_PAGESIZE);
  return count > 0 && size > 0 ? std::int64_t{count} * size : 0;
}

/// Memory available without swapping, in bytes.
std::int64_t available_bytes() {
  std::int64_t kilobytes = 0;
  std::istringstream{value_of("/proc/meminfo", "MemAvailable")} >> kilobytes;
  return kilobytes > 0 ? kilobytes * 1024 : memory_of(_SC_AVPHYS_PAGES);
}

/// CPU time of this thread in seconds: other processes may slow it down through the caches, but their time does not
/// count.
double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

contend_status open(int device, contend_device_info* info, char* message, std::size_t size) {
  if (device != 0) {
    say(fmt::format("the CPU is device 0; there is no device {}", device), message, size);
    return CONTEND_NO_DEVICE;
  }
  *info = {};
  const std::string name = value_of("/proc/cpuinfo", "model name");
  std::snprintf(info->name, sizeof info->name, "%s", name.empty() ? "CPU" : name.c_str());
  std::snprintf(info->libraries, sizeof info->libraries, "%s, one thread", dense_library().c_str());
#ifdef __VERSION__
  std::snprintf(info->runtime, sizeof info->runtime, "%s", __VERSION__);
#endif
  info->memory_bytes = memory_of(_SC_PHYS_PAGES);
  info->free_bytes = available_bytes();
  info->multiprocessors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  info->devices = 1;
  info->clock_mhz = number_at("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq") / 1000;
  return CONTEND_OK;
}

void close() {}

contend_status state(contend_device_state* out) {
  *out = {};
  out->power_limited_s = out->heat_limited_s = -1;
  std::istringstream{value_of("/proc/cpuinfo", "cpu MHz")} >> out->clock_mhz;
  // Runnable threads of the whole machine, this one among them: `0.12 0.10 0.09 2/345 6789`.
  std::ifstream file{"/proc/loadavg"};
  std::string word;
  int runnable = 0;
  if (file >> word >> word >> word >> runnable)
    out->other_processes = std::max(0, runnable - 1);
  else
    out->other_processes = -1;
  return CONTEND_OK;
}

contend_status prepare(const contend_operation* operation, void** prepared, char* message, std::size_t size) {
  try {
    // Half of the available memory: a machine that swaps would measure its disk.
    ReadyOperation ready = cpu::make_ready(*operation, 0.5 * static_cast<double>(available_bytes()));
    say(ready.reason, message, size);
    if (ready.status == CONTEND_OK)
      *prepared = new PreparedOperation{std::move(ready.execute), std::move(ready.beside)};
    return ready.status;
  } catch (const std::exception& error) {
    say(error.what(), message, size);
    return CONTEND_FAILED;
  }
}

contend_status run(void* prepared, int launches, double* seconds, char* message, std::size_t size) {
  try {
    auto& [execute, beside] = *static_cast<PreparedOperation*>(prepared);
    std::optional<BusyThread> busy;
    if (beside) busy.emplace(beside);
    const double begin = thread_seconds();
    for (int i = 0; i < launches; ++i) execute();
    *seconds = thread_seconds() - begin;
    return CONTEND_OK;
  } catch (const std::exception& error) {
    say(error.what(), message, size);
    return CONTEND_FAILED;
  }
}

void release(void* prepared) {
  const std::unique_ptr<PreparedOperation> owned{static_cast<PreparedOperation*>(prepared)};
}

constexpr contend_backend kBackend = {
    .name = "cpu", .open = open, .close = close, .state = state, .prepare = prepare, .run = run, .release = release};

}  // namespace
}  // namespace contend

const contend_backend* contend_cpu_backend() {
  return &contend::kBackend;
}

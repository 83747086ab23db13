// Implements the table of backend.h: opens a device, finds operators by name, and turns failures into answers.
#include "calibration/cuda/launch_plan.hpp"
#include "calibration/cuda/nvml.cuh"
#include "calibration/cuda/operation.cuh"
#include "calibration/cuda/plugin.h"
#include "calibration/cuda/testing.h"
#include "calibration/cuda/timing.cuh"
#include "calibration/cuda/versions.cuh"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>

namespace contend::cuda {

Session::Session(int number) : device(number) {
  check(cudaGetDeviceCount(&devices), "looking for CUDA devices");
  if (number < 0 || number >= devices) {
    fail(CONTEND_NO_DEVICE, "there is no device " + std::to_string(number) + ": this process sees " +
                                std::to_string(devices) + ", counted from 0");
  }
  check(cudaSetDevice(device), "choosing the device");
  int major = 0, minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "asking for the capability");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "asking for the capability");
  capability = 10 * major + minor;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "asking for processors");
  int cache = 0;
  check(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device), "asking for the cache");
  cache_bytes = cache;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  // What runs in the background is to get its processors even beside kernels that fill the device, like the kernels of
  // a communication library.
  int least = 0, most = 0;
  cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &most);
  if (error == cudaSuccess) error = cudaStreamCreateWithPriority(&background, cudaStreamNonBlocking, most);
  if (error != cudaSuccess) {
    cudaStreamDestroy(stream);
    check(error, "creating a stream");
  }
}

Session::~Session() {
  while (!libraries_.empty()) libraries_.pop_back();
  cudaStreamDestroy(background);
  cudaStreamDestroy(stream);
}

namespace {

// The open device, of which there is one, because the functions of backend.h take none.
std::optional<Session> g_session;
std::unique_ptr<Nvml> g_nvml;

/// True if an earlier fault has made the context useless: every call fails then. cudaDeviceReset() would give a new
/// one, but the libraries keep modules of the old one.
bool is_broken() {
  return g_session && (cudaSetDevice(g_session->device) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess);
}

/// Calls `action` and turns its failure into a status and a message of one line.
template <class Action>
contend_status answer(char* message, size_t size, Action action) {
  const auto say = [&](const std::string& text) {
    if (message != nullptr && size > 0) std::snprintf(message, size, "%s", text.c_str());
  };
  say("");
  try {
    action();
    return CONTEND_OK;
  } catch (const Failure& failure) {
    say(failure.message);
    return failure.status == CONTEND_FAILED && is_broken() ? CONTEND_BROKEN : failure.status;
  } catch (const std::bad_alloc&) {
    say("out of memory on the host");
    return CONTEND_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    say(error.what());
    return CONTEND_FAILED;
  }
}

/// Says why there is no device. The runtime only says that there is none or, if it may not open the second of these
/// files, that something is wrong.
[[noreturn]] void explain_no_device(const Failure& failure) {
  for (const char* const file : {"/dev/nvidiactl", "/dev/nvidia-uvm"}) {
    if (access(file, F_OK) == 0 && access(file, R_OK | W_OK) != 0) {
      fail(CONTEND_NO_PERMISSION, std::string("this user may not open ") + file + " (" + failure.message + ")");
    }
  }
  int version = 0;
  if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0) {
    fail(CONTEND_NO_DEVICE, "no NVIDIA driver is loaded on this machine (" + failure.message + ")");
  }
  // Within one major version an older driver serves a newer program.
  if (version / 1000 < CUDART_VERSION / 1000) {
    fail(CONTEND_NO_DEVICE, "the driver serves CUDA " + dotted(version, 1000, 10) +
                                ", this program is built for CUDA " + dotted(CUDART_VERSION, 1000, 10) + " (" +
                                failure.message + ")");
  }
  throw failure;
}

template <size_t Size>
void write(char (&to)[Size], const std::string& text) {
  std::snprintf(to, Size, "%s", text.c_str());
}

void describe(const Session& session, const Nvml& nvml, contend_device_info& info) {
  info = {};
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, session.device), "asking for properties");
  write(info.name, properties.name);
  int version = 0;
  check(cudaDriverGetVersion(&version), "asking for the version of the driver");
  const std::string driver = nvml.driver();
  write(info.driver, driver.empty() ? "CUDA " + dotted(version, 1000, 10) : driver);
  check(cudaRuntimeGetVersion(&version), "asking for the version of the runtime");
  write(info.runtime, "CUDA " + dotted(version, 1000, 10));
  write(info.libraries, library_versions() + ", attention by kernels of this program");
  size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for memory");
  info.memory_bytes = static_cast<std::int64_t>(total);
  info.free_bytes = static_cast<std::int64_t>(free);
  info.multiprocessors = session.multiprocessors;
  info.devices = session.devices;
  info.capability = session.capability;
  int khz = 0;
  info.clock_mhz = nvml.highest_clock();
  if (info.clock_mhz == 0 && cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, session.device) == cudaSuccess) {
    info.clock_mhz = khz / 1e3;
  }
  info.memory_clock_mhz = nvml.highest_memory_clock();
  if (info.memory_clock_mhz == 0 &&
      cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, session.device) == cudaSuccess) {
    info.memory_clock_mhz = khz / 1e3;
  }
}

const Entries& entries() {
  static const Entries kAll = [] {
    Entries all;
    for (const auto family : {launch_operators, memory_operators, gemm_operators, convolution_operators,
                              attention_operators, elementwise_operators, batch_norm_operators, row_operators,
                              window_operators, optimizer_operators, selection_operators, quantization_operators,
                              low_rank_operators, training_operators, collective_operators, contention_operators}) {
      const Entries some = family();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }();
  return kAll;
}

Request read_request(const contend_operation& operation, const Entry& entry) {
  constexpr std::pair<const char*, Type> kTypes[] = {
      {"fp32", Type::fp32}, {"tf32", Type::tf32}, {"fp16", Type::fp16}, {"bf16", Type::bf16}, {"fp8", Type::fp8}};
  const auto* const type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                        [&](const auto& each) { return std::strcmp(each.first, operation.type) == 0; });
  if (type == std::end(kTypes)) {
    fail(CONTEND_UNSUPPORTED, std::string("no kernels for numbers of type ") + operation.type);
  }
  if (operation.dimensions != entry.dimensions) {
    fail(CONTEND_UNSUPPORTED, std::string(entry.name) + " takes " + std::to_string(entry.dimensions) +
                                  " dimensions, not " + std::to_string(operation.dimensions));
  }
  Request request{entry.name, type->second, {operation.shape, operation.shape + operation.dimensions}};
  for (size_t i = 0; i < request.shape.size(); ++i) {
    const std::int64_t least = static_cast<int>(i) < entry.dimensions - entry.may_be_zero ? 1 : 0;
    if (request.shape[i] < least) {
      fail(CONTEND_UNSUPPORTED, "dimension " + std::to_string(i + 1) + " must be at least " + std::to_string(least));
    }
  }
  return request;
}

Session& opened() {
  if (!g_session) fail(CONTEND_FAILED, "no device is open");
  check(cudaSetDevice(g_session->device), "choosing the device");
  return *g_session;
}

void execute_once(Session& session, Operation& operation) {
  if (operation.execute) operation.execute(session.stream);
  check(cudaGetLastError(), "launching a kernel");
  check(cudaDeviceSynchronize(), "executing the operation");
}

/// Adds as many copies as together exceed the cache.
void add_copies(Session& session, const Entry& entry, const Request& request, Operation& operation) {
  size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for memory");
  const int copies = copies_beyond_cache(operation.bytes(), session.cache_bytes, static_cast<std::int64_t>(free / 2));
  for (int i = 1; i < copies; ++i) operation.add_copy(entry.make(session, request));
}

void close_device() {
  if (!g_session) return;
  const int device = g_session->device;
  const bool broken = cudaSetDevice(device) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess;
  g_nvml.reset();
  g_session.reset();
  // The context is destroyed only if an illegal access has broken it, because libraries have loaded code into it.
  if (broken) cudaDeviceReset();
  cudaGetLastError();
}

contend_status open_device(int device, contend_device_info* info, char* message, size_t size) {
  return answer(message, size, [&] {
    close_device();
    try {
      g_session.emplace(device);
      char bus_id[32] = "";
      check(cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), device), "asking for the bus");
      g_nvml = std::make_unique<Nvml>(bus_id);
      describe(*g_session, *g_nvml, *info);
      wake(*g_session);
    } catch (const Failure& failure) {
      close_device();
      if (failure.status == CONTEND_NO_DEVICE || failure.status == CONTEND_FAILED) explain_no_device(failure);
      throw;
    }
  });
}

contend_status read_state(contend_device_state* state) {
  return answer(nullptr, 0, [&] {
    opened();
    g_nvml->read(*state);
  });
}

contend_status prepare(const contend_operation* operation, void** prepared, char* message, size_t size) {
  *prepared = nullptr;
  return answer(message, size, [&] {
    Session& session = opened();
    const auto& all = entries();
    const auto entry = std::find_if(all.begin(), all.end(),
                                    [&](const Entry& each) { return std::strcmp(each.name, operation->name) == 0; });
    if (entry == all.end()) fail(CONTEND_UNSUPPORTED, std::string("the CUDA back end has no ") + operation->name);
    const Request request = read_request(*operation, *entry);
    auto made = std::make_unique<Operation>(entry->make(session, request));
    if (entry->cold) add_copies(session, *entry, request, *made);
    // Tensors are filled on the default stream. The first execution loads kernels and shows faults of the shape.
    check(cudaDeviceSynchronize(), "filling the tensors");
    execute_once(session, *made);
    *prepared = made.release();
  });
}

contend_status run(void* prepared, int launches, double* seconds, char* message, size_t size) {
  return answer(message, size, [&] {
    Session& session = opened();
    auto& operation = *static_cast<Operation*>(prepared);
    if (launches < 1) fail(CONTEND_FAILED, "nothing to launch");
    *seconds = operation.time ? operation.time(launches) : time_executions(session, operation, launches);
  });
}

void release(void* prepared) {
  cudaDeviceSynchronize();  // a run that failed may have left work on the device
  delete static_cast<Operation*>(prepared);
  cudaGetLastError();
}

}  // namespace

}  // namespace contend::cuda

extern "C" const contend_backend* contend_cuda_plugin(void) {
  using namespace contend::cuda;
  static const contend_backend kBackend = {"cuda", open_device, close_device, read_state, prepare, run, release};
  return &kBackend;
}

extern "C" contend_status contend_cuda_execute(void* prepared, char* message, size_t size) {
  using namespace contend::cuda;
  return answer(message, size, [&] { execute_once(opened(), *static_cast<Operation*>(prepared)); });
}

// Loads the CUDA back end, a library of its own, when a calibration begins. CUDA's libraries take longer to load (180
// ms if cuBLASLt, cuDNN and NCCL are in the page cache) than most simulations take to run, and a program built with
// CUDA must start on machines without CUDA.
#include "calibration/backend.h"
#include "calibration/cuda/plugin.h"

#include <dlfcn.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

namespace contend {

namespace {

struct Plugin {
  const contend_backend* backend = nullptr;
  std::string error;
};

/// Looks beside the program, where the build puts the library, and in the lib folder, where the installation puts it.
Plugin load() {
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  Plugin plugin;
  for (const auto& place : {folder, folder.parent_path() / CONTEND_LIBRARY_FOLDER}) {
    const std::filesystem::path file = place / "libcontend_cuda.so";
    if (!std::filesystem::exists(file, ignored)) continue;
    // It is never unloaded, because CUDA's libraries register functions to be called at exit.
    // Functions are looked for when they are called first: the functions of cuDNN and NCCL, without which the rest
    // works, are loaded after the back end (versions.cu).
    void* const library = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
      plugin.error = dlerror();
      continue;
    }
    using Entry = decltype(&contend_cuda_plugin);
    const auto entry = reinterpret_cast<Entry>(dlsym(library, "contend_cuda_plugin"));
    if (entry != nullptr) return {entry(), ""};
    plugin.error = file.string() + " is not the CUDA back end of this program";
  }
  if (plugin.error.empty()) plugin.error = "there is no libcontend_cuda.so beside " + folder.string();
  return plugin;
}

const Plugin& plugin() {
  static const Plugin kPlugin = load();
  return kPlugin;
}

void say(char* message, size_t size) {
  if (message != nullptr && size > 0) {
    std::snprintf(message, size, "the CUDA back end can't be loaded: %s", plugin().error.c_str());
  }
}

contend_status open_nothing(int, contend_device_info*, char* message, size_t size) {
  say(message, size);
  return CONTEND_NO_DEVICE;
}
void close_nothing() {}
contend_status state_of_nothing(contend_device_state*) {
  return CONTEND_NO_DEVICE;
}
contend_status prepare_nothing(const contend_operation*, void** prepared, char* message, size_t size) {
  *prepared = nullptr;
  say(message, size);
  return CONTEND_NO_DEVICE;
}
contend_status run_nothing(void*, int, double*, char* message, size_t size) {
  say(message, size);
  return CONTEND_NO_DEVICE;
}
void release_nothing(void*) {}

}  // namespace

}  // namespace contend

extern "C" const contend_backend* contend_cuda_backend(void) {
  using namespace contend;
  static const contend_backend kNone = {"cuda",          open_nothing, close_nothing,  state_of_nothing,
                                        prepare_nothing, run_nothing,  release_nothing};
  return plugin().backend != nullptr ? plugin().backend : &kNone;
}

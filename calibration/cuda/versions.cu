#include "calibration/cuda/versions.cuh"

#include <cublasLt.h>
#include <dlfcn.h>
#ifdef CONTEND_HAS_CUDNN
#include <cudnn.h>
#endif
#ifdef CONTEND_HAS_NCCL
#include <nccl.h>
#endif

namespace contend::cuda {

std::string dotted(int version, int major, int minor) {
  const int last = version % minor;
  return std::to_string(version / major) + "." + std::to_string(version % major / minor) +
         (last != 0 ? "." + std::to_string(last) : "");
}

namespace {

/// Loads a library and makes its functions known to this one, which was linked without it and looks for each function
/// when it is first called.
std::string load(const char* file) {
  if (dlopen(file, RTLD_NOW | RTLD_GLOBAL) != nullptr) return "";
  return dlerror();
}

}  // namespace

const std::string& why_no_cudnn() {
#ifdef CONTEND_HAS_CUDNN
  static const std::string kWhy = load("libcudnn.so.9");
#else
  static const std::string kWhy = "this program was built without cuDNN";
#endif
  return kWhy;
}

const std::string& why_no_nccl() {
#ifdef CONTEND_HAS_NCCL
  static const std::string kWhy = load("libnccl.so.2");
#else
  static const std::string kWhy = "this program was built without NCCL";
#endif
  return kWhy;
}

std::string library_versions() {
  // cuBLAS of CUDA 13 counts 10000 for a major version, 100 for a minor one; so do cuDNN 9 and NCCL 2.9.
  std::string text = "cuBLASLt " + dotted(static_cast<int>(cublasLtGetVersion()), 10000, 100);
#ifdef CONTEND_HAS_CUDNN
  if (why_no_cudnn().empty()) text += ", cuDNN " + dotted(static_cast<int>(cudnnGetVersion()), 10000, 100);
#endif
#ifdef CONTEND_HAS_NCCL
  int nccl = 0;
  if (why_no_nccl().empty() && ncclGetVersion(&nccl) == ncclSuccess) text += ", NCCL " + dotted(nccl, 10000, 100);
#endif
  return text;
}

}  // namespace contend::cuda

#include "calibration/cuda/versions.cuh"

#include <cublasLt.h>
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

std::string library_versions() {
  // cuBLAS of CUDA 13 counts 10000 for a major version, 100 for a minor one; so do cuDNN 9 and NCCL 2.9.
  std::string text = "cuBLASLt " + dotted(static_cast<int>(cublasLtGetVersion()), 10000, 100);
#ifdef CONTEND_HAS_CUDNN
  text += ", cuDNN " + dotted(static_cast<int>(cudnnGetVersion()), 10000, 100);
#endif
#ifdef CONTEND_HAS_NCCL
  int nccl = 0;
  if (ncclGetVersion(&nccl) == ncclSuccess) text += ", NCCL " + dotted(nccl, 10000, 100);
#endif
  return text;
}

}  // namespace contend::cuda

// Stands in for the CUDA back end where the program is built without CUDA.

#include "calibration/backend.h"

const contend_backend* contend_cuda_backend() {
  return nullptr;
}

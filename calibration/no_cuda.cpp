// The CUDA back end of a program built without CUDA: there is none.

#include "calibration/backend.h"

const contend_backend* contend_cuda_backend() {
  return nullptr;
}

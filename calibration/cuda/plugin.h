#ifndef CONTEND_CALIBRATION_CUDA_PLUGIN_H
#define CONTEND_CALIBRATION_CUDA_PLUGIN_H
/* Declares the one function that the program looks up in libcontend_cuda.so. */

#include "calibration/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

__attribute__((visibility("default"))) const contend_backend* contend_cuda_plugin(void);

#ifdef __cplusplus
}
#endif
#endif

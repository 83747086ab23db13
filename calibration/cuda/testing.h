#ifndef CONTEND_CALIBRATION_CUDA_TESTING_H
#define CONTEND_CALIBRATION_CUDA_TESTING_H
/* Access for the tests of the CUDA back end: the tensors of a prepared operation, by name, and one execution of it.
 * Numbers are converted from and to double on the host, whatever their format on the device. The names are those
 * that the operators pass to Operation::tensor(). */

#include "calibration/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The number of elements of the tensor, or -1 if the operation has no tensor of that name. */
int64_t contend_cuda_elements(void* prepared, const char* tensor);
contend_status contend_cuda_write(void* prepared, const char* tensor, const double* values, int64_t elements);
contend_status contend_cuda_read(void* prepared, const char* tensor, double* values, int64_t elements);
/* Enqueues the operation once and waits until it has ended. */
contend_status contend_cuda_execute(void* prepared, char* message, size_t size);

#ifdef __cplusplus
}
#endif
#endif

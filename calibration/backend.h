#ifndef CONTEND_MODELS_CALIBRATION_BACKEND_H
#define CONTEND_MODELS_CALIBRATION_BACKEND_H
/* What a device has to offer to be calibrated, as a table of C functions: the CUDA back end is compiled by nvcc as
 * C++17, which can't see the C++20 headers of the project. The CPU back end offers the same.
 *
 * A back end has one device open at a time and is used by one thread. Whatever goes wrong is an answer, never an
 * exception or an exit: a status, and a message of one line for people. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CONTEND_MAX_DIMENSIONS = 12 };

typedef enum contend_status {
  CONTEND_OK = 0,
  CONTEND_NO_DEVICE,     /* none here, or not this one */
  CONTEND_NO_PERMISSION, /* there is one, and this user may not use it */
  CONTEND_BUSY,          /* in exclusive use by somebody else */
  CONTEND_UNSUPPORTED,   /* the operation, number format or library isn't had here */
  CONTEND_OUT_OF_MEMORY, /* for this shape */
  CONTEND_FAILED         /* anything else; the device may have to be closed and opened again */
} contend_status;

/* An operation of operators.hpp: its name, the number format (`fp32`) and its dimensions in the order given there. */
typedef struct contend_operation {
  const char* name;
  const char* type;
  int dimensions;
  int64_t shape[CONTEND_MAX_DIMENSIONS];
} contend_operation;

typedef struct contend_device_info {
  char name[128];
  char driver[64];
  char runtime[64];
  char libraries[256]; /* those that were measured, with versions */
  int64_t memory_bytes;
  int64_t free_bytes;
  int multiprocessors; /* or cores */
  int devices;         /* on this machine that this process sees */
  int capability;      /* compute capability x 10, such as 90; 0: not a GPU */
  double clock_mhz;    /* highest; 0: unknown */
  double memory_clock_mhz;
} contend_device_info;

/* What a device does right now. Whatever isn't known is 0, of `other_processes` -1. */
typedef struct contend_device_state {
  double clock_mhz;
  double memory_clock_mhz;
  double temperature_c;
  double power_w;
  int throttled;       /* the clock is held down by heat or power */
  char throttle[128];  /* why */
  int other_processes; /* that compute on this device */
} contend_device_state;

typedef struct contend_backend {
  const char* name; /* `cuda` or `cpu` */
  contend_status (*open)(int device, contend_device_info* info, char* message, size_t size);
  void (*close)(void);
  contend_status (*state)(contend_device_state* state);
  /* Allocates and fills what the operation needs and picks its algorithm: none of that is timed. */
  contend_status (*prepare)(const contend_operation* operation, void** prepared, char* message, size_t size);
  /* Time of `launches` >= 1 executions back to back on the device, measured by the device where it can. */
  contend_status (*run)(void* prepared, int launches, double* seconds, char* message, size_t size);
  void (*release)(void* prepared);
} contend_backend;

/* NULL if the program was built without CUDA. */
const contend_backend* contend_cuda_backend(void);
const contend_backend* contend_cpu_backend(void);

#ifdef __cplusplus
}
#endif
#endif

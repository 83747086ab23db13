#ifndef CONTEND_CALIBRATION_BACKEND_H
#define CONTEND_CALIBRATION_BACKEND_H
/* The interface between a calibration and a device, as a table of C functions. It is C because nvcc compiles the
 * CUDA back end as C++17 and cannot read the project's C++20 headers. The CPU back end implements the same table.
 *
 * A back end has one device open at a time and is used by one thread. A function reports an error by its status and
 * a message of one line for people; it never throws and never exits. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CONTEND_MAX_DIMENSIONS = 12 };

typedef enum contend_status {
  CONTEND_OK = 0,
  CONTEND_NO_DEVICE,     /* no device here, or not the one asked for */
  CONTEND_NO_PERMISSION, /* the device exists, but this user may not use it */
  CONTEND_BUSY,          /* another process has the device for itself */
  CONTEND_UNSUPPORTED,   /* this back end lacks the operation, number format or library */
  CONTEND_OUT_OF_MEMORY, /* the operands of this shape do not fit */
  CONTEND_FAILED,        /* any other error; the next operation may succeed */
  CONTEND_BROKEN         /* this process can no longer use the device, but another one can */
} contend_status;

/* One operation of operators.hpp: its name, its number format (such as `fp32`), and its dimensions in the order
 * given there. */
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
  char libraries[256]; /* the measured libraries with their versions */
  int64_t memory_bytes;
  int64_t free_bytes;
  int multiprocessors; /* cores on a CPU */
  int devices;         /* devices on this machine that this process can use */
  int capability;      /* compute capability x 10, such as 90; 0 if not a GPU */
  double clock_mhz;    /* highest clock; 0 if unknown */
  double memory_clock_mhz;
} contend_device_info;

/* The state of the device at this moment. Unknown numbers are 0; an unknown `other_processes` or count of
 * seconds is -1. */
typedef struct contend_device_state {
  double clock_mhz;
  double memory_clock_mhz;
  double temperature_c;
  double power_w;
  int throttled;       /* heat or a fault holds the clock down; the limit of power does not count */
  char throttle[128];  /* the reason */
  int other_processes; /* other processes that compute on this device */
  /* Seconds since some beginning for which the clock was held down, by the limit of power and by heat; they only
   * grow. -1 if unknown. */
  double power_limited_s;
  double heat_limited_s;
} contend_device_state;

typedef struct contend_backend {
  const char* name; /* `cuda` or `cpu` */
  contend_status (*open)(int device, contend_device_info* info, char* message, size_t size);
  void (*close)(void);
  contend_status (*state)(contend_device_state* state);
  /* Allocates and fills the operands and picks the algorithm; nothing of this is timed. A `message` has room for
   * `size` bytes. */
  contend_status (*prepare)(const contend_operation* operation, void** prepared, char* message, size_t size);
  /* Executes `launches` >= 1 times back to back and returns the seconds of all of them, by the device's clock if it
   * has one. */
  contend_status (*run)(void* prepared, int launches, double* seconds, char* message, size_t size);
  void (*release)(void* prepared);
} contend_backend;

/* The CUDA back end, or NULL if the program was built without CUDA. */
const contend_backend* contend_cuda_backend(void);
const contend_backend* contend_cpu_backend(void);

#ifdef __cplusplus
}
#endif
#endif

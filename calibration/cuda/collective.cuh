#pragma once
#include "calibration/cuda/operation.cuh"

namespace contend::cuda {

/// Prepares an all-reduce of `bytes` over `devices`, the operator nccl_all_reduce. The session's device is the first;
/// its part is enqueued on the stream that execute() gets. Throws CONTEND_UNSUPPORTED without NCCL or with fewer
/// devices.
Operation make_all_reduce(Session& session, std::int64_t bytes, std::int64_t devices);

}  // namespace contend::cuda

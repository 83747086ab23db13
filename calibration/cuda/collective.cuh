#pragma once
#include "calibration/cuda/operation.cuh"

namespace contend::cuda {

/// An all-reduce of `bytes` over `devices`, as the operator nccl_all_reduce; the session's device is the first, whose
/// part goes to the stream that execute() is given. Throws CONTEND_UNSUPPORTED without NCCL or with fewer devices.
Operation make_all_reduce(Session& session, std::int64_t bytes, std::int64_t devices);

}  // namespace contend::cuda

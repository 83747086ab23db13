#pragma once
// What the names of kernels, collectives and types of numbers say, as PyTorch, NCCL, RCCL and others write them.

#include "traces/recording/recording.hpp"

#include <optional>
#include <string_view>

namespace contend {

/// True for a kernel of NCCL, RCCL, MSCCL and the libraries beside them: vLLM, SGLang, DeepEP, NVSHMEM.
[[nodiscard]] bool is_communication_kernel(std::string_view name);

/// The kind that the name of such a kernel says; generic if it says none. From NCCL 2.19 on the name says neither
/// algorithm nor protocol (src/device/generate.py), so these are not read.
[[nodiscard]] RecordedCollective collective_of_kernel(std::string_view name);

/// The kind of `record_param_comms`, `Collective name` and annotations, such as `_allgather_base` or
/// `nccl:_reduce_scatter_base`; nothing for what moves no data, such as `wait`.
[[nodiscard]] std::optional<RecordedCollective> collective_named(std::string_view name);

/// Bytes of a number of PyTorch's type, such as `BFloat16`; nothing for a type that isn't known.
[[nodiscard]] std::optional<std::int64_t> bytes_of_type(std::string_view type);

}  // namespace contend

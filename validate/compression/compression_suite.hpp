#pragma once
// Compressed gradients against published volumes, kernels and iterations: Power-SGD and ACP-SGD, 1-bit Adam, gTop-k,
// BAGUA, Espresso.

#include "validate/checked_table.hpp"

#include <cstdint>
#include <cstdio>
#include <vector>

namespace contend {

inline constexpr std::int64_t kResNet50Parameters = 25'557'032;

[[nodiscard]] std::vector<CheckedTable> compression_volumes();  ///< bytes that methods send
[[nodiscard]] std::vector<CheckedTable> compression_gtop_k();   ///< gTop-k on 4 to 32 workers, 1 GbE
[[nodiscard]] CheckedTable compression_one_bit_adam();          ///< 1-bit Adam on 8 to 32 GPUs over TCP
[[nodiscard]] std::vector<CheckedTable> compression_bagua();    ///< nine methods on 128 GPUs, 100 Gbit/s TCP
[[nodiscard]] std::vector<CheckedTable> compression_acp_sgd();  ///< low rank against fused all-reduces, 10 GbE
[[nodiscard]] CheckedTable compression_kernels();               ///< kernels beside measured ones

/// Suite `compression`.
int validate_compression(std::FILE* out);

}  // namespace contend

#pragma once
// Validates compressed gradients against published volumes, kernel times and iteration times: Power-SGD and ACP-SGD,
// 1-bit Adam, gTop-k, BAGUA, Espresso.

#include "validate/checked_table.hpp"

#include <cstdint>
#include <cstdio>
#include <vector>

namespace contend {

inline constexpr std::int64_t kResNet50Parameters = 25'557'032;

[[nodiscard]] std::vector<CheckedTable> compression_volumes();  ///< bytes that compression methods send
[[nodiscard]] std::vector<CheckedTable> compression_gtop_k();   ///< gTop-k on 4 to 32 workers, 1 GbE
[[nodiscard]] CheckedTable compression_one_bit_adam();          ///< 1-bit Adam on 8 to 32 GPUs over TCP
[[nodiscard]] std::vector<CheckedTable> compression_bagua();    ///< nine methods on 128 GPUs, 100 Gbit/s TCP
[[nodiscard]] std::vector<CheckedTable> compression_acp_sgd();  ///< low rank compared with fused all-reduces, 10 GbE
[[nodiscard]] CheckedTable compression_kernels();               ///< kernel times compared with measured ones

/// Runs the suite `compression`.
int validate_compression(std::FILE* out);

}  // namespace contend

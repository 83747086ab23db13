#pragma once
// Reads the requests that a served model got. Three forms, which the reader tells apart by their first line:
//   Azure's CSV      TIMESTAMP, an instant of the calendar (the first row is at 0), ContextTokens, GeneratedTokens (an
//                    answer of 0 tokens counts as 1), and NumImages, which is ignored
//   Mooncake's JSON  a line each: timestamp (ms), input_length, output_length, hash_ids of the prompt's blocks of 512
//   our CSV          arrival (s), prompt, answer, and where wanted prefix (a whole number >= 0) and hits (tokens)
// Compressed files are inflated.

#include "models/serving/request.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Tokens of a block of Mooncake's traces.
inline constexpr std::int64_t kTraceBlock = 512;

struct RequestTrace {
  std::vector<ServedRequest> requests;            ///< in order of their arrivals
  std::vector<std::vector<std::int64_t>> blocks;  ///< of the prompts, by hash; empty if the trace is no Mooncake's
  int without_blocks = 0;                         ///< the first line of a trace with `blocks` that has none; 0: none
};

/// Throws InputError with every fault: a time that goes back, a length that is no whole number, a length of 0.
[[nodiscard]] RequestTrace parse_request_trace(std::string_view text, const std::string& file);
[[nodiscard]] RequestTrace read_request_trace(const std::string& path);

/// Sets the hits of each request by a cache of so many blocks, >= 1, which all replicas share. Returns their sum.
std::int64_t take_prefix_hits(RequestTrace& trace, std::int64_t cache_blocks);

}  // namespace contend

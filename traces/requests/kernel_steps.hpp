#pragma once
// The law of a step out of measured kernels of one GPU, in the form of LLMServingSim's profiles: a folder with
//   dense.csv         layer, tokens, time_us            the kernels of a layer, of the embedding and of the last norm
//   per_sequence.csv  layer, sequences, time_us         of the head and of the sampler
//   attention.csv     prefill_chunk, kv_prefill, n_decode, kv_decode, time_us     of one layer
// Products are linear between the table's tokens. Attention of a decoding sequence has a start and a time for each
// token in its cache, by the table's largest batch with caches of 512 and of 2,048 tokens. Attention of a prompt has a
// time for each pair, by the largest chunk without a context.

#include "models/serving/step_law.hpp"

#include <cstdint>
#include <string>

namespace contend {

/// Of a model of so many equal layers with two norms each. The host's time is left at 0. Throws InputError with every
/// fault of the files, and for rows that are missing.
[[nodiscard]] StepLaw read_kernel_steps(const std::string& folder, std::int64_t layers);

}  // namespace contend

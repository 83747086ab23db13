#pragma once
// The networks that ship, by name. A table is built when it is asked for, from the architecture itself.

#include "models/layers.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

struct CatalogueEntry {
  std::string_view name;
  std::string_view summary;
  std::int64_t sequence_length = 0;      ///< default, in tokens or words; 0 where a sample is an image
  std::int64_t max_sequence_length = 0;  ///< of trained positions; 0 if the architecture sets no limit
  LayerTable (*table)(std::int64_t sequence_length) = nullptr;
};

/// In order of family and size.
[[nodiscard]] std::span<const CatalogueEntry> catalogue();
/// The entry of that name, or nullptr.
[[nodiscard]] const CatalogueEntry* find_model(std::string_view name);
[[nodiscard]] std::vector<std::string> model_names();

/// Where the architecture sets no limit: keeps the flops of the largest model within 64 bits.
inline constexpr std::int64_t kLongestSequence = 524'288;

/// Why samples can't be that long; empty if they can.
[[nodiscard]] std::string sequence_refusal(const CatalogueEntry& entry, std::int64_t sequence_length);

/// The layers of a model. `sequence_length` 0 takes the entry's default; throws InputError if the model has no
/// sequence, or only shorter ones.
[[nodiscard]] LayerTable build_model(const CatalogueEntry& entry, std::int64_t sequence_length = 0);

/// What a list of models shows, for samples of the default length.
struct ModelSummary {
  std::string name;
  std::string summary;
  std::string sample;
  std::string source;
  std::int64_t parameters = 0;
  std::int64_t tensors = 0;
  std::int64_t layers = 0;
  double forward_gflops = 0;  ///< per sample, a multiply-add counts 2
};
[[nodiscard]] std::vector<ModelSummary> model_summaries();

}  // namespace contend

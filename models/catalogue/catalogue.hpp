#pragma once
// The catalogue lists the networks that ship, by name. A layer table is built from the architecture on request.

#include "models/catalogue/network_program.hpp"
#include "models/layers.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A network of the catalogue.
struct CatalogueEntry {
  std::string_view name;
  std::string_view summary;
  std::int64_t sequence_length = 0;      ///< default, in tokens or words; 0 if a sample is an image
  std::int64_t max_sequence_length = 0;  ///< number of trained positions; 0 if the architecture sets no limit
  const TextEntry* text = nullptr;       ///< of architectures.txt
};

/// All entries, in order of family and size.
[[nodiscard]] std::span<const CatalogueEntry> catalogue();
/// The entry of that name, or nullptr.
[[nodiscard]] const CatalogueEntry* find_model(std::string_view name);
[[nodiscard]] std::vector<std::string> model_names();

/// The limit if the architecture sets none: it keeps the flops of the largest model within 64 bits.
inline constexpr std::int64_t kLongestSequence = 524'288;

/// The reason why samples can't have this length; empty if they can.
[[nodiscard]] std::string sequence_refusal(const CatalogueEntry& entry, std::int64_t sequence_length);

/// Builds the layers of a model. `sequence_length` 0 means the entry's default. Throws InputError if the model takes no
/// sequences or not such long ones. `numbers` are parameters of the network in place of the usual ones.
[[nodiscard]] LayerTable build_model(const CatalogueEntry& entry, std::int64_t sequence_length = 0,
                                     const ArchitectureNumbers& numbers = {});

/// The figures of a model in a list, for samples of the default length.
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

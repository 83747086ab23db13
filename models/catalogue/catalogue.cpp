#include "models/catalogue/catalogue.hpp"

#include "sim/error.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace contend {

std::span<const CatalogueEntry> catalogue() {
  static const std::vector<CatalogueEntry> kEntries = [] {
    std::vector<CatalogueEntry> all;
    for (const TextEntry& each : architectures()) {
      if (each.kind != "network") continue;
      std::vector<double> lengths = each.numbers("sequence");
      lengths.resize(2);
      all.push_back({each.name, each.text("summary"), static_cast<std::int64_t>(lengths[0]),
                     static_cast<std::int64_t>(lengths[1]), &each});
    }
    return all;
  }();
  return kEntries;
}

const CatalogueEntry* find_model(std::string_view name) {
  const auto found = std::ranges::find(catalogue(), name, &CatalogueEntry::name);
  return found == catalogue().end() ? nullptr : &*found;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : catalogue()) names.emplace_back(entry.name);
  return names;
}

std::string sequence_refusal(const CatalogueEntry& entry, std::int64_t sequence_length) {
  if (entry.sequence_length == 0) return fmt::format("model `{}` takes images: it has no sequence length", entry.name);
  const std::int64_t limit = entry.max_sequence_length > 0 ? entry.max_sequence_length : kLongestSequence;
  if (sequence_length >= 1 && sequence_length <= limit) return {};
  return fmt::format("model `{}`: expected a sequence length between 1 and {}, got {}", entry.name, limit,
                     sequence_length);
}

LayerTable build_model(const CatalogueEntry& entry, std::int64_t sequence_length, const ArchitectureNumbers& numbers) {
  if (sequence_length == 0) return build_network(*entry.text, entry.sequence_length, numbers);
  std::string refusal = sequence_refusal(entry, sequence_length);
  if (!refusal.empty()) throw InputError{std::move(refusal)};
  return build_network(*entry.text, sequence_length, numbers);
}

std::vector<ModelSummary> model_summaries() {
  std::vector<ModelSummary> summaries;
  for (const CatalogueEntry& entry : catalogue()) {
    const LayerTable table = build_model(entry);
    summaries.push_back({table.name, std::string{entry.summary}, table.sample, table.source, table.parameter_elements(),
                         table.parameter_tensors(), static_cast<std::int64_t>(table.layers.size()),
                         static_cast<double>(table.forward_flops()) * 1e-9});
  }
  return summaries;
}

}  // namespace contend

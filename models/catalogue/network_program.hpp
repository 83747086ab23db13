#pragma once
// Builds the networks of architectures.txt, whose head describes the lines.

#include "models/layers.hpp"
#include "sim/fields.hpp"

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace contend {

/// Parameters of a network by name, such as `auxiliary`: 0 leaves auxiliary heads out.
using ArchitectureNumbers = std::map<std::string_view, std::int64_t>;

/// The layers of a network of the text for samples of `tokens` tokens or words. `numbers` replace the numbers
/// of the text.
[[nodiscard]] LayerTable build_network(const TextEntry& network, std::int64_t tokens,
                                       const ArchitectureNumbers& numbers);

/// The text of architectures.txt, and its networks and modules.
[[nodiscard]] std::string_view architectures_text();
[[nodiscard]] const std::vector<TextEntry>& architectures();

}  // namespace contend

#pragma once
// The catalogue of machines and networks as data, network/catalogue/*.txt: kinds of servers, the networks between them,
// and what collectives take inside a server, each figure with its source. docs/models/machines.md has the words.

#include "sim/fields.hpp"

#include <span>
#include <string_view>

namespace contend {

/// The text of the catalogue, and its entries.
[[nodiscard]] std::string_view network_catalogue_text();
[[nodiscard]] std::span<const TextEntry> network_catalogue();
/// The entry of that kind and name; nullptr if there is none.
[[nodiscard]] const TextEntry* network_entry(std::string_view kind, std::string_view name);

/// The machines, each with the lines of the machine that it is like behind its own.
[[nodiscard]] std::span<const TextEntry> machines();
[[nodiscard]] const TextEntry* find_machine(std::string_view name);

}  // namespace contend

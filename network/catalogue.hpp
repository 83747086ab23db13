#pragma once
// The catalogue of machines and networks as data, network/catalogue/*.txt: kinds of servers, the networks between them,
// and what collectives take inside a server, each figure with its source. docs/models/machines.md has the words.

#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// One entry. Its first line is its kind and its name, the lines below are indented: a word and its value. What follows
/// a # is a comment. A fault is a broken invariant, because the program holds its texts itself.
struct NetworkEntry {
  std::string_view kind, name;
  std::vector<std::pair<std::string_view, std::string_view>> lines;

  [[nodiscard]] bool has(std::string_view word) const;
  [[nodiscard]] std::string_view text(std::string_view word) const;  ///< empty: there is no such line
  [[nodiscard]] std::vector<double> numbers(std::string_view word) const;
  [[nodiscard]] double number(std::string_view word, double otherwise = 0) const;
};

/// The entries of this text, in its order.
[[nodiscard]] std::vector<NetworkEntry> read_network_catalogue(std::string_view text);

/// The text of the catalogue, and its entries.
[[nodiscard]] std::string_view network_catalogue_text();
[[nodiscard]] std::span<const NetworkEntry> network_catalogue();
/// The entry of that kind and name; nullptr if there is none.
[[nodiscard]] const NetworkEntry* network_entry(std::string_view kind, std::string_view name);

/// The machines, each with the lines of the machine that it is like behind its own.
[[nodiscard]] std::span<const NetworkEntry> machines();
[[nodiscard]] const NetworkEntry* find_machine(std::string_view name);

}  // namespace contend

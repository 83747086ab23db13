#include "traces/jobs/name_index.hpp"

namespace contend {
namespace {

/// FNV-1a (Fowler, Noll, Vo), its bits spread once more because the table takes the lowest.
std::uint64_t hash_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash ^ (hash >> 32);
}

}  // namespace

int NameIndex::insert(std::string_view name, int line) {
  if (2 * (entries_.size() + 1) > slots_.size()) grow();
  const std::uint64_t hash = hash_of(name);
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Entry& entry = entries_[slots_[slot] - 1];
    if (entry.hash == hash && name_of(entry) == name) return entry.line;
  }
  entries_.push_back({.hash = hash, .begin = names_.size(), .size = name.size(), .line = line});
  names_ += name;
  slots_[slot] = static_cast<std::uint32_t>(entries_.size());
  return 0;
}

void NameIndex::grow() {
  slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::size_t slot = entries_[i].hash & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

}  // namespace contend

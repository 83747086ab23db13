#include "traces/jobs/name_index.hpp"

#include <algorithm>
#include <cstring>

namespace contend {
namespace {

/// Eight bytes at a time, each word multiplied in (the constant is the golden ratio's, odd) and folded.
std::uint64_t hash_of(std::string_view name) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15ULL;
  std::uint64_t hash = name.size() * kFactor;
  while (!name.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min(name.size(), sizeof word);
    std::memcpy(&word, name.data(), size);
    hash = (hash ^ word) * kFactor;
    hash ^= hash >> 29;
    name.remove_prefix(size);
  }
  return hash ^ (hash >> 32);
}

}  // namespace

int NameIndex::insert(std::string_view name, int line) {
  if (2 * (entries_.size() + 1) > slots_.size()) grow();
  const std::uint64_t hash = hash_of(name);
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  for (; slots_[slot].entry != 0; slot = (slot + 1) & mask) {
    if (slots_[slot].tag != tag) continue;
    const Entry& entry = entries_[slots_[slot].entry - 1];
    if (entry.hash == hash && name_of(entry) == name) return entry.line;
  }
  entries_.push_back({.hash = hash, .begin = names_.size(), .size = name.size(), .line = line});
  names_ += name;
  slots_[slot] = {.entry = static_cast<std::uint32_t>(entries_.size()), .tag = tag};
  return 0;
}

void NameIndex::grow() {
  slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), Slot{});
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::size_t slot = entries_[i].hash & mask;
    while (slots_[slot].entry != 0) slot = (slot + 1) & mask;
    slots_[slot] = {.entry = static_cast<std::uint32_t>(i + 1),
                    .tag = static_cast<std::uint32_t>(entries_[i].hash >> 32)};
  }
}

}  // namespace contend

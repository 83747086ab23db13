#pragma once
// A cache of the first blocks of prompts, which requests share: a block hits if all blocks before it in the prompt hit.
// The least recently used block goes first.

#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>

namespace contend {

class PrefixCache {
 public:
  /// Holds at most so many blocks, >= 1.
  explicit PrefixCache(std::int64_t blocks) : blocks_{blocks} {}

  /// How many of a prompt's first blocks are in the cache. Afterwards all of them are, used in their order.
  std::int64_t use(std::span<const std::int64_t> prompt);

 private:
  std::int64_t blocks_;
  std::list<std::int64_t> used_;  // the most recent one in front
  std::unordered_map<std::int64_t, std::list<std::int64_t>::iterator> places_;
};

}  // namespace contend

#include "models/serving/prefix_cache.hpp"

namespace contend {

std::int64_t PrefixCache::use(std::span<const std::int64_t> prompt) {
  std::int64_t hits = 0;
  for (const std::int64_t block : prompt) {
    if (!places_.contains(block)) break;
    ++hits;
  }
  for (const std::int64_t block : prompt) {
    if (const auto known = places_.find(block); known != places_.end()) {
      used_.splice(used_.begin(), used_, known->second);
      continue;
    }
    used_.push_front(block);
    places_[block] = used_.begin();
    if (static_cast<std::int64_t>(places_.size()) <= blocks_) continue;
    places_.erase(used_.back());
    used_.pop_back();
  }
  return hits;
}

}  // namespace contend

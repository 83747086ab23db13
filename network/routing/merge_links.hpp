#pragma once
// Puts the links of several paths together.

#include "network/routing.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace contend {

/// Sorts the links by id and makes one of those that appear several times, with the sum of their shares.
inline void merge_links(std::vector<LinkShare>& links) {
  if (links.empty()) return;
  std::stable_sort(links.begin(), links.end(), [](const LinkShare& a, const LinkShare& b) { return a.link < b.link; });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < links.size(); ++i) {
    if (links[i].link == links[kept].link) {
      links[kept].share += links[i].share;
    } else {
      links[++kept] = links[i];
    }
  }
  links.resize(kept + 1);
}

}  // namespace contend

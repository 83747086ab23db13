#include "network/link_matrix.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cstddef>

namespace contend {

void LinkMatrix::set(std::size_t from, std::size_t to, const SiteLink& link) {
  CONTEND_CHECK(from < size() && to < size() && from != to, "a link joins two sites");
  links_[from * size() + to] = link;
}

std::optional<ByteRate> LinkMatrix::slower_rate(std::size_t a, std::size_t b) const {
  const auto &there = link(a, b), &back = link(b, a);
  if (!there || !back) return std::nullopt;
  return std::min(there->rate, back->rate);
}

bool LinkMatrix::complete() const {
  for (std::size_t from = 0; from < size(); ++from) {
    for (std::size_t to = 0; to < size(); ++to) {
      if (from != to && !link(from, to)) return false;
    }
  }
  return true;
}

LinkMatrix LinkMatrix::first(std::size_t count) const {
  CONTEND_CHECK(count <= size(), "some of the sites");
  LinkMatrix part{{sites_.begin(), sites_.begin() + static_cast<std::ptrdiff_t>(count)}};
  for (std::size_t from = 0; from < count; ++from) {
    for (std::size_t to = 0; to < count; ++to) {
      if (link(from, to)) part.set(from, to, *link(from, to));
    }
  }
  return part;
}

}  // namespace contend

#include "network/link_matrix.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

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
  std::vector<std::size_t> sites(count);
  std::iota(sites.begin(), sites.end(), std::size_t{0});
  return only(sites);
}

LinkMatrix LinkMatrix::only(std::span<const std::size_t> sites) const {
  std::vector<std::string> names;
  for (const std::size_t site : sites) {
    CONTEND_CHECK(site < size(), "one of the sites");
    names.push_back(sites_[site]);
  }
  LinkMatrix part{std::move(names)};
  for (std::size_t from = 0; from < sites.size(); ++from) {
    for (std::size_t to = 0; to < sites.size(); ++to) {
      if (from != to && link(sites[from], sites[to])) part.set(from, to, *link(sites[from], sites[to]));
    }
  }
  return part;
}

}  // namespace contend

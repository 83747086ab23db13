// LinkClaims against a plain count of the jobs on each link.

#include "network/link_claims.hpp"

#include "sim/random_stream.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

std::vector<LinkShare> shares_of(const std::vector<std::uint32_t>& links) {
  std::vector<LinkShare> shares;
  for (const std::uint32_t link : links) shares.push_back({LinkId{link}, 1.0});
  return shares;
}

}  // namespace

TEST_CASE("a job is apart while no other has a route over its links") {
  LinkClaims claims{4, 3};
  const JobId a{0U}, b{1U}, c{2U};
  CHECK(claims.is_apart(a));  // it has no links
  claims.add(a, shares_of({0, 1}));
  claims.add(b, shares_of({2}));
  CHECK(claims.is_apart(a));
  CHECK(claims.is_apart(b));
  const std::uint64_t before = claims.version(a), beside = claims.version(b);
  claims.add(c, shares_of({1, 3}));
  CHECK_FALSE(claims.is_apart(a));
  CHECK_FALSE(claims.is_apart(c));
  CHECK(claims.is_apart(b));
  CHECK(claims.version(a) != before);  // so that nothing seen before counts
  CHECK(claims.version(b) == beside);
  claims.drop(a);
  CHECK(claims.is_apart(c));
  CHECK(claims.links(a).empty());
  CHECK(std::ranges::equal(claims.links(c), std::vector<LinkId>{LinkId{1U}, LinkId{3U}}));
}

TEST_CASE("claims are the claims of a plain count, over random jobs that come, send elsewhere, and leave") {
  constexpr std::uint32_t kLinks = 12, kJobs = 6;
  RandomStream random{1, "claims"};
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random.uniform_integer(0, n - 1)); };
  LinkClaims claims{kLinks, kJobs};
  std::vector<std::set<std::uint32_t>> plain(kJobs);
  std::vector<bool> was_apart(kJobs, true);
  std::vector<std::uint64_t> version(kJobs, 0);
  int apart = 0, shared = 0;
  for (int step = 0; step < 2000; ++step) {
    const std::uint32_t job = below(kJobs);
    if (below(3) == 0) {
      claims.drop(JobId{job});
      plain[job].clear();
    } else {
      std::vector<std::uint32_t> links;
      for (std::uint32_t i = 0; i < 1 + below(3); ++i) links.push_back(below(kLinks));
      claims.add(JobId{job}, shares_of(links));
      plain[job].insert(links.begin(), links.end());
    }
    for (std::uint32_t j = 0; j < kJobs; ++j) {
      bool is_apart = true;
      for (std::uint32_t other = 0; other < kJobs; ++other) {
        if (other == j) continue;
        for (const std::uint32_t link : plain[j]) is_apart = is_apart && !plain[other].contains(link);
      }
      CHECK(claims.is_apart(JobId{j}) == is_apart);
      CHECK(claims.links(JobId{j}).size() == plain[j].size());
      if (is_apart != was_apart[j]) CHECK(claims.version(JobId{j}) != version[j]);
      was_apart[j] = is_apart;
      version[j] = claims.version(JobId{j});
      ++(is_apart ? apart : shared);
    }
  }
  CHECK(apart > 1000);
  CHECK(shared > 1000);
}

#pragma once
// LinkClaims knows which jobs have routes over which links, and so which jobs are apart from all others.

#include "network/routing.hpp"
#include "sim/ids.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace contend {

class LinkClaims {
 public:
  LinkClaims(std::size_t links, std::size_t jobs) : links_(links), jobs_(jobs) {}

  /// The job may send over these links from now on. Links that it has already are left out.
  void add(JobId id, std::span<const LinkShare> links) {
    Job& job = jobs_[id.index()];
    const auto known = static_cast<std::ptrdiff_t>(job.links.size());
    for (const LinkShare& use : links) {
      if (!std::binary_search(job.links.begin(), job.links.begin() + known, use.link)) job.links.push_back(use.link);
    }
    std::sort(job.links.begin() + known, job.links.end());
    job.links.erase(std::unique(job.links.begin() + known, job.links.end()), job.links.end());
    for (auto link = job.links.begin() + known; link != job.links.end(); ++link) {
      Link& claimed = links_[link->index()];
      if (claimed.jobs == 1) change_shared(JobId{claimed.sum}, 1);
      ++claimed.jobs;
      claimed.sum += id.value();
      if (claimed.jobs > 1) ++job.shared;
    }
    ++job.version;
    std::inplace_merge(job.links.begin(), job.links.begin() + known, job.links.end());
  }

  /// The job has left its links.
  void drop(JobId id) {
    Job& job = jobs_[id.index()];
    for (const LinkId link : job.links) {
      Link& claimed = links_[link.index()];
      --claimed.jobs;
      claimed.sum -= id.value();
      if (claimed.jobs == 1) change_shared(JobId{claimed.sum}, -1);
    }
    job.links.clear();
    job.shared = 0;
    ++job.version;
  }

  /// True if no other job has a route over any of its links.
  [[nodiscard]] bool is_apart(JobId job) const { return jobs_[job.index()].shared == 0; }
  /// Another number whenever its links, or the part of them that other jobs use, may have changed.
  [[nodiscard]] std::uint64_t version(JobId job) const { return jobs_[job.index()].version; }
  [[nodiscard]] std::span<const LinkId> links(JobId job) const { return jobs_[job.index()].links; }  ///< ascending

 private:
  struct Link {
    std::uint32_t jobs = 0;
    std::uint32_t sum = 0;  // of their numbers, modulo 2^32: if there is one, it is the job
  };
  struct Job {
    std::vector<LinkId> links;
    std::int64_t shared = 0;  // links on which it isn't alone
    std::uint64_t version = 0;
  };

  void change_shared(JobId job, int by) {
    jobs_[job.index()].shared += by;
    ++jobs_[job.index()].version;
  }

  std::vector<Link> links_;
  std::vector<Job> jobs_;
};

}  // namespace contend

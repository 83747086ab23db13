// What policies say of jobs that wait, worked out by hand. Times are in seconds; name(GPUs, duration) is a job.

#include "tests/policies/scheduling_kit.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

using Reasons = std::vector<std::string>;

/// Two servers of two GPUs. A(1,2), B(1,10) and C(1,10) at 0: A and B share a server. At 3 each server has one GPU
/// free, and D(2,1) and E(2,1), which come then and at 4, fit nowhere.
std::vector<JobSpec> two_halves() {
  return {timed_job(0, 1, 2), timed_job(0, 1, 10), timed_job(0, 1, 10), timed_job(3, 2, 1), timed_job(4, 2, 1)};
}

Played on_two_servers(const char* policy, const std::vector<JobSpec>& jobs) {
  ClusterSpec cluster;
  cluster.servers = 2;
  cluster.gpus_per_server = 2;
  cluster.gpu_memory = Bytes{1};
  return play({policy, {}}, cluster, jobs, one_server());
}

}  // namespace

TEST_CASE("a job waits for a place, and not for GPUs, where as many as it needs are free") {
  for (const char* policy : {"fit-first", "priority", "fair-share", "drf"}) {
    INFO(std::string{policy});
    const Played played = on_two_servers(policy, two_halves());
    CHECK(played.waits == Reasons{"3 D: no place", "4 E: no place"});
    CHECK(played.finishes() == "A2 B10 C10 D11 E11");
  }
}

TEST_CASE("easy: the first in the queue waits for a place, and not for its own reservation") {
  std::vector<JobSpec> jobs = two_halves();
  jobs.pop_back();
  const Played played = on_two_servers("easy", jobs);
  CHECK(played.waits == Reasons{"3 D: no place"});
  CHECK(played.finishes() == "A2 B10 C10 D11");
}

TEST_CASE("easy, conservative: a job that the placement refuses waits for a place, and not for a reservation") {
  // The reservation of D begins at 10, when B and C end. E would be done at 5, but finds no place either.
  CHECK(on_two_servers("easy", two_halves()).waits == Reasons{"3 D: no place", "4 E: no place"});
  CHECK(on_two_servers("conservative", two_halves()).waits == Reasons{"3 D: no place", "4 E: no place"});
}

TEST_CASE("easy: a job that needs exactly the GPUs that are free waits for the reservation that it would delay") {
  // 4 GPUs: A(2,10) at 0, B(4,2) at 1, promised 10. C(2,20) at 2 would delay it; D(3,1) at 3 finds only 2 GPUs.
  // B holds all GPUs from 10 to 12.
  const Played played =
      play({"easy", {}}, 4, {timed_job(0, 2, 10), timed_job(1, 4, 2), timed_job(2, 2, 20), timed_job(3, 3, 1)});
  CHECK(played.waits == Reasons{"1 B: no GPUs", "2 C: reserved, B", "3 D: no GPUs", "10 C: no GPUs"});
  CHECK(played.finishes() == "A10 B12 C32 D33");
}

TEST_CASE("fair-share, drf: a job waits for GPUs, and not for its quota, where exactly as much is left as it needs") {
  // 4 GPUs, quotas of 2 and 4. A(4,10) of cluster 1 at 0; B(2,1) of cluster 0 at 1; C(1,1) of cluster 1 at 2, whose
  // quota is used up.
  ClusterSpec cluster;
  cluster.gpus_per_server = 4;
  cluster.gpu_memory = Bytes{1};
  cluster.vcs = {{{}, 2, false}, {{}, 4, false}};
  std::vector<JobSpec> jobs{timed_job(0, 4, 10), timed_job(1, 2, 1), timed_job(2, 1, 1)};
  jobs[0].vc = jobs[2].vc = 1;
  jobs[1].vc = 0;
  for (const char* policy : {"fair-share", "drf"}) {
    INFO(std::string{policy});
    const Played played = play({policy, {}}, cluster, jobs);
    CHECK(played.waits == Reasons{"1 B: no GPUs", "2 C: quota"});
    CHECK(played.finishes() == "A10 B11 C11");
  }
}

// How virtual clusters take borrowed GPUs back, worked out by hand. Times are in seconds; name(GPUs, duration) is a
// job.

#include "policies/scheduling/demand.hpp"
#include "tests/policies/placement_kit.hpp"
#include "tests/policies/scheduling_kit.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

JobSpec job_of(std::int32_t vc, std::int64_t submit, int gpus, std::int64_t duration) {
  JobSpec job = timed_job(submit, gpus, duration);
  job.vc = vc;
  return job;
}

/// Virtual clusters with these quotas, which may borrow from each other.
ClusterSpec borrowers(int servers, int gpus_per_server, const std::vector<int>& quotas) {
  ClusterSpec cluster;
  cluster.servers = servers;
  cluster.gpus_per_server = gpus_per_server;
  cluster.gpu_memory = Bytes{1};
  for (const int quota : quotas) cluster.vcs.push_back({{}, quota, true});
  return cluster;
}

}  // namespace

TEST_CASE("GPUs come from the virtual cluster furthest above its quota, and of equals from the first") {
  // Quotas of 2 on 6 GPUs. Cluster 0: A(2,20), B(1,20); cluster 1: C(2,20), D(1,20); both are above by 1.
  std::vector<JobSpec> jobs = {job_of(0, 0, 2, 20), job_of(0, 0, 1, 20), job_of(1, 0, 2, 20), job_of(1, 0, 1, 20),
                               job_of(2, 3, 1, 4)};
  for (const char* policy : {"fair-share", "drf"}) {
    INFO(std::string{policy});
    CHECK(play({policy, {}}, borrowers(1, 6, {2, 2, 2}), jobs).preemptions() == "B1");
    // With E(1,20) cluster 1 is above by 2 of 7 GPUs: F(2,4) of cluster 2 first takes E, and then, as both are above by
    // 1, B.
    std::vector<JobSpec> more = jobs;
    more[4] = job_of(1, 0, 1, 20);
    more.push_back(job_of(2, 3, 2, 4));
    CHECK(play({policy, {}}, borrowers(1, 7, {2, 2, 3}), more).preemptions() == "B1 E1");
  }
}

TEST_CASE("nobody within the own quota gives way, even if the quotas together are more than the cluster has") {
  // Quotas of 3 on 4 GPUs: A(3,10) leaves one, and B(3,2) of the other cluster waits.
  const Played played = play({"fair-share", {}}, borrowers(1, 4, {3, 3}), {job_of(0, 0, 3, 10), job_of(1, 3, 3, 2)});
  CHECK(played.preemptions().empty());
  CHECK(played.finishes() == "A10 B12");
}

TEST_CASE("a job that failed and holds its GPUs until it is diagnosed can't give them back") {
  // Quotas of 2 and 3 on five servers of one GPU. A(3,20) and C(1,60) borrow 2; at 10 the first server fails, A's gang
  // is found out and diagnosed at 20 and holds its GPUs until then. B(3,4) of the other cluster, there since 12, would
  // get 2 GPUs from C's end: it waits until 20, and A goes on behind it.
  FailureSpec failures;
  failures.outages = {{Time::seconds(10), Time::seconds(40), 1, 2}};
  failures.detection = failures.diagnosis = Time::seconds(5);
  const std::vector<JobSpec> jobs = {job_of(0, 0, 3, 20), job_of(1, 12, 3, 4), job_of(0, 0, 1, 60)};
  for (const char* policy : {"fair-share", "drf"}) {
    INFO(std::string{policy});
    const Played played = play({policy, {}}, borrowers(5, 1, {2, 3}), jobs, nullptr, {}, {}, {}, failures);
    CHECK(played.preemptions().empty());
    CHECK(played.finishes() == "A34 B24 C60");
  }
  // Without C nothing of the virtual cluster runs that could give way.
  const Played alone = play({"fair-share", {}}, borrowers(4, 1, {2, 2}), {job_of(0, 0, 4, 20), job_of(1, 12, 2, 4)},
                            nullptr, {}, {}, {}, failures);
  CHECK(alone.finishes() == "A50 B24");
}

TEST_CASE("if the GPUs of enough jobs are on different servers, more jobs are looked at") {
  // Two servers of 3 GPUs, quotas of 3. A(1,20), B(1,2), C(1,20) share the first server, D, E, F(1,20) the second; at 2
  // G(1,20) takes the place of B. H(2,4) of the other cluster needs two on one server; the last two that started, G and
  // F, have one GPU on each. So E gives way with F, and G stays.
  std::vector<JobSpec> jobs;
  for (const std::int64_t duration : {20, 2, 20, 20, 20, 20}) jobs.push_back(job_of(0, 0, 1, duration));
  jobs.push_back(job_of(0, 1, 1, 20));
  jobs.push_back(job_of(1, 3, 2, 4));
  const Played played = play({"fair-share", {}}, borrowers(2, 3, {3, 3}), jobs, one_server());
  CHECK(played.preemptions() == "E1 F1");
  CHECK(played.finishes() == "A20 B2 C20 D20 E24 F24 G22 H7");
}

TEST_CASE("a job within its quota waits if all jobs that could give way have no place for it together") {
  // Two servers of 2 GPUs, quotas of 2. A(1,2) and B(1,20) share the first server, C(1,20) and D(1,20) the second; at 2
  // E(1,20) takes the place of A. F(2,4) could have the GPUs of E and D, which are on different servers.
  const Played played = play({"fair-share", {}}, borrowers(2, 2, {2, 2}),
                             {job_of(0, 0, 1, 2), job_of(0, 0, 1, 20), job_of(0, 0, 1, 20), job_of(0, 0, 1, 20),
                              job_of(0, 1, 1, 20), job_of(1, 3, 2, 4)},
                             one_server());
  CHECK(played.preemptions().empty());
  CHECK(played.finishes() == "A2 B20 C20 D20 E22 F24");
}

TEST_CASE("gittins: a job whose like have mostly ended goes before one of which hardly any has") {
  // Five GPUs, quanta of 10 GPU seconds. A has 2, B to E 19 each. From 19 on the first quantum ends one of five jobs
  // and costs 2 + 4 x 10, so 42 GPU seconds for each end; the second costs 4 x 9, so 9 for each of four ends. F(5,30)
  // comes at 20 and is in its second quantum when G(5,1) comes at 23. It goes on to the end of that at 24.
  const std::vector<JobSpec> jobs = {timed_job(0, 1, 2),  timed_job(0, 1, 19), timed_job(0, 1, 19),
                                     timed_job(0, 1, 19), timed_job(0, 1, 19), timed_job(20, 5, 30),
                                     timed_job(23, 5, 1)};
  const Played played = play({"gittins", {{"quantum_s", 10.0}, {"warm_up", std::int64_t{5}}}}, 5, jobs);
  CHECK(played.finishes() == "A2 B19 C19 D19 E19 F51 G25");
  CHECK(played.preemptions() == "F1");
  // Until six jobs have ended, the least service counts: G takes the GPUs at once.
  CHECK(play({"gittins", {{"quantum_s", 10.0}, {"warm_up", std::int64_t{6}}}}, 5, jobs).finishes() ==
        "A2 B19 C19 D19 E19 F51 G24");
}

TEST_CASE("quotas: only a virtual cluster that would have more than its quota is divided by itself") {
  ClusterSpec spec = cluster_of(4, 2);
  spec.vcs = {{{}, 1}, {{}, 3}, {{}, 8, true}};
  const PlacedCluster cluster{spec};
  const auto job = [](std::int32_t vc, int gpus) {
    JobView view = gang(gpus);
    view.vc = vc;
    return view;
  };
  const auto text = [&](const std::vector<JobView>& jobs) {
    std::string parts;
    for (const GpuPart& part : parts_within_quotas(cluster, jobs)) {
      parts += fmt::format("{}{:g} ({:g}):", parts.empty() ? "" : ", ", part.gpus[0], part.most[0]);
      for (const std::size_t i : part.jobs) parts += fmt::format(" {}", i);
    }
    return parts;
  };
  CHECK(text({job(-1, 6), job(2, 9)}) == "8 (8): 0 1");  // a quota that may be exceeded is none here
  CHECK(text({job(0, 1), job(1, 3), job(-1, 9)}) == "8 (8): 0 1 2");
  // 8 GPUs for 16: half of what each wants is 1, 4 and 3. The second has but 3, and of 5 GPUs for 8 the first 1.25.
  CHECK(text({job(0, 2), job(1, 4), job(1, 4), job(-1, 6)}) == "3 (3): 1 2, 1 (1): 0, 4 (8): 3");
  CHECK(text({job(1, 4)}) == "3 (3): 0");
}

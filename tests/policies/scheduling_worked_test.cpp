// These schedules are worked out by hand. Times are in seconds; name(GPUs, duration) is a job.

#include "sim/error.hpp"
#include "tests/policies/scheduling_kit.hpp"

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

JobSpec with_priority(JobSpec job, std::int32_t priority) {
  job.priority = priority;
  return job;
}
JobSpec of_vc(JobSpec job, std::int32_t vc) {
  job.vc = vc;
  return job;
}
JobSpec with_limit(JobSpec job, std::int64_t seconds) {
  job.limit = Time::seconds(seconds);
  return job;
}

/// Two virtual clusters of 2 GPUs each on 4, which may borrow from each other.
ClusterSpec two_borrowers() {
  ClusterSpec cluster;
  cluster.gpus_per_server = 4;
  cluster.gpu_memory = Bytes{1};
  cluster.vcs = {{{}, 2, true}, {{}, 2, true}};
  return cluster;
}

Played on_one_server_each(const Choice& scheduling, const std::vector<JobSpec>& jobs,
                          const SchedulingRules& rules = {}) {
  ClusterSpec cluster;
  cluster.servers = 2;
  cluster.gpus_per_server = 2;
  cluster.gpu_memory = Bytes{1};
  return play(scheduling, cluster, jobs, one_server(), rules);
}

}  // namespace

TEST_CASE("fit-first and smallest-first skip jobs that do not fit, in order of submission or of size") {
  // 4 GPUs. 0: A(2,6) starts, B(4,4) doesn't fit. 1: C(1,3) starts. 2: D(2,2) doesn't fit. 3: E(1,1) starts, F(3,2)
  // not. 4: C and E end; the first that fits into 2 GPUs is D. 6: A and D end.
  const std::vector<JobSpec> jobs = {timed_job(0, 2, 6), timed_job(0, 4, 4), timed_job(1, 1, 3),
                                     timed_job(2, 2, 2), timed_job(3, 1, 1), timed_job(3, 3, 2)};
  // By submission B goes next, 6-10, then F, 10-12; by size F, 6-8, then B, 8-12.
  CHECK(play({"fit-first", {}}, 4, jobs).finishes() == "A6 B10 C4 D6 E4 F12");
  CHECK(play({"smallest-first", {}}, 4, jobs).finishes() == "A6 B12 C4 D6 E4 F8");
  // 2 GPUs. 0: A(2,4). 1: B(1,2) pushes A out, and C(1,1) fits beside it. 2: C ends, A doesn't fit. 3: B ends, A goes
  // on.
  const Played pushed =
      play({"smallest-first", {{"preemptive", true}}}, 2, {timed_job(0, 2, 4), timed_job(1, 1, 2), timed_job(1, 1, 1)});
  CHECK(pushed.finishes() == "A6 B3 C2");
  CHECK(pushed.preemptions() == "A1");
}

TEST_CASE("srtf and srsf with rewalk: at every event the first jobs by what remains hold the GPUs") {
  // 4 GPUs: A(4,10) B(1,3) C(2,5) D(2,1) E(3,2), submitted at 0 2 2 3 4. By time. 2: B 3, C 5, A 8: A is preempted, B
  // and C run, one GPU is idle. 3: D 1, B 2, C 4: C is preempted. 4: D ends; B 1, E 2: both run. 5: B ends; C needs 2
  // and one is free. 6: E ends, C runs 6-10. 10: A goes on for 8. By service. 2: B 3, C 10, A 32. 3: B 2 (it runs:
  // first), D 2, C 8. 4: B 1, E 6, C 8. As above.
  const std::vector<JobSpec> jobs = {timed_job(0, 4, 10), timed_job(2, 1, 3), timed_job(2, 2, 5), timed_job(3, 2, 1),
                                     timed_job(4, 3, 2)};
  for (const char* name : {"srtf", "srsf"}) {
    for (const bool list_order : {false, true}) {
      const Played played = play({name, {{"rewalk", true}, {"list_order", list_order}}}, 4, jobs);
      CHECK(played.finishes() == "A18 B5 C10 D4 E6");
      CHECK(played.preemptions() == "A1 C1");
    }
  }
  // They differ where a wide job is short. 2 GPUs: A(1,5), B(2,3) at 0. By time B goes first, by service A: 5 < 6.
  const std::vector<JobSpec> wide = {timed_job(0, 1, 5), timed_job(0, 2, 3)};
  CHECK(play({"srtf", {{"rewalk", true}}}, 2, wide).finishes() == "A8 B3");
  CHECK(play({"srsf", {{"rewalk", true}}}, 2, wide).finishes() == "A5 B8");
  // A tie. 1 GPU: A(1,4) at 0, B(1,2) at 2, when 2 s of A are left too. A runs and stays. In a list that is sorted
  // again, A stood before B, which has just arrived: an equal result. C(1,1) arrives at 1: A is preempted with 3 s
  // left; at 2 A is before B.
  CHECK(play({"srtf", {{"rewalk", true}}}, 1, {timed_job(0, 1, 4), timed_job(2, 1, 2)}).finishes() == "A4 B6");
  CHECK(play({"srtf", {{"rewalk", true}, {"list_order", true}}}, 1, {timed_job(0, 1, 4), timed_job(2, 1, 2)})
            .finishes() == "A4 B6");
  // 2 GPUs: A(1,6), B(2,3) at 0: B runs 0-3. C(1,5) comes at 1; 3: A 6, C 5: both run. D(2,4) comes at 4, when 4 s of C
  // are left, and 5 of A: C runs and goes first, D doesn't fit. 5: E(1,9) comes; D 4 has C 3 before it: no room.
  // 8: C ends. A ends at 9, D runs 9-13, E from 8 beside A, is preempted at 9, 13-21.
  const Played tie =
      play({"srtf", {{"rewalk", true}}}, 2,
           {timed_job(0, 1, 6), timed_job(0, 2, 3), timed_job(1, 1, 5), timed_job(4, 2, 4), timed_job(5, 1, 9)});
  CHECK(tie.finishes() == "A9 B3 C8 D13 E21");
  CHECK(tie.preemptions() == "E1");
}

TEST_CASE("srtf and srsf with rewalk: a restart and a stop for a checkpoint do no work") {
  for (const char* name : {"srtf", "srsf"}) {
    INFO(name);
    const Choice rewalk{name, {{"rewalk", true}}};
    // 1 GPU, restarts of 10 s: A(1,100) at 0, B(1,5) at 50, C(1,47) at 60. B takes the place of A, of which 50 s are
    // left, and ends at 55. At 60 A restarts, and 50 s are left still: C goes first, 60-107. A restarts until 117.
    SchedulingRules restarts;
    restarts.preemption.restart = Time::seconds(10);
    const Played again = play(rewalk, cluster_of(1, 1),
                              {timed_job(0, 1, 100), timed_job(50, 1, 5), timed_job(60, 1, 47)}, nullptr, restarts);
    CHECK(again.finishes() == "A167 B55 C107");
    CHECK(again.preemptions() == "A2");
    // Checkpoints of 10 s after each 20 s of work: at 55 A has done 40 s, and stops for its second one. B(1,55) takes
    // its place before that is done, and needs 75 s with its own two. Of A 20 s are saved, so that 80 s follow, with
    // three stops.
    SchedulingRules saves;
    saves.preemption.checkpoint_interval = Time::seconds(20);
    saves.preemption.checkpoint = Time::seconds(10);
    CHECK(play(rewalk, cluster_of(1, 1), {timed_job(0, 1, 100), timed_job(55, 1, 55)}, nullptr, saves).finishes() ==
          "A240 B130");
  }
}

TEST_CASE("dlas-gpu demotes a job that has had 8 GPU seconds to the second queue") {
  // 4 GPUs: A(4,6) at 0, B(2,5) and C(3,2) at 1, D(1,2) at 4. 2: A has had 8. First queue: B fits, C doesn't; A is
  // preempted. 4: D fits beside B. 6: D ends, B has had 8; first queue: C, and no job fits beside it; B is preempted.
  // 8: C ends; in the second queue A was submitted first: 8-12. B 12-13.
  const std::vector<JobSpec> jobs = {timed_job(0, 4, 6), timed_job(1, 2, 5), timed_job(1, 3, 2), timed_job(4, 1, 2)};
  const Played played = play({"dlas-gpu", {{"queues", std::int64_t{2}}, {"limit_1_s", 8.0}}}, 4, jobs);
  CHECK(played.finishes() == "A12 B13 C8 D6");
  CHECK(played.preemptions() == "A1 B1");
  // By time on the GPUs, however many, with a limit of 2 s: A falls at 2 and B starts, 4: B falls, C starts, D too:
  // full. 6: both end, A goes on 6-10, then B, which has had 2 of its 5 s, 10-13.
  const Played by_time = play({"dlas", {{"queues", std::int64_t{2}}, {"limit_1_s", 2.0}}}, 4, jobs);
  CHECK(by_time.finishes() == "A10 B13 C6 D6");
  CHECK(by_time.preemptions() == "A1 B1");
}

TEST_CASE("dlas: the limits of the queues must rise") {
  CHECK_THROWS_WITH_AS(
      static_cast<void>(play({"dlas", {{"limit_1_s", 9.0}, {"limit_2_s", 8.5}}}, 1, {timed_job(0, 1, 1)})),
      "policies.scheduling.limit_2_s: expected more than limit_1_s, which is 9, got 8.5", InputError);
}

TEST_CASE("dlas promotes a job that has waited long enough to the first queue") {
  // 1 GPU, limit 2 s. A(1,4) runs 0-2 and falls; B, C, D(1,2) at 1, 3, 5 keep it out: 2-4, 4-6, 6-8; A ends at 10.
  const std::vector<JobSpec> jobs = {timed_job(0, 1, 4), timed_job(1, 1, 2), timed_job(3, 1, 2), timed_job(5, 1, 2)};
  const Choice queues{"dlas", {{"queues", std::int64_t{2}}, {"limit_1_s", 2.0}}};
  CHECK(play(queues, 1, jobs).finishes() == "A10 B4 C6 D8");
  // With promote 1.5 it has waited 3 s at 5, and is in the first queue again; C runs there until 6; A was submitted
  // before D: 6-8.
  Choice promoting = queues;
  promoting.parameters.emplace_back("promote", 1.5);
  CHECK(play(promoting, 1, jobs).finishes() == "A8 B4 C6 D10");
}

TEST_CASE("dlas: a job that counts as new again has not waited when it starts") {
  // As above with A(1,8): in the first queue again at 5, it starts at 6 and falls at 8. The second from 5 to 6 doesn't
  // count, so it waits until 11 for the next promotion, and E(1,2), which came at 9, runs 10-12. A runs from then on.
  const std::vector<JobSpec> jobs = {timed_job(0, 1, 8), timed_job(1, 1, 2), timed_job(3, 1, 2), timed_job(5, 1, 2),
                                     timed_job(9, 1, 2)};
  const Choice promoting{"dlas", {{"queues", std::int64_t{2}}, {"limit_1_s", 2.0}, {"promote", 1.5}}};
  const Played played = play(promoting, 1, jobs);
  CHECK(played.finishes() == "A16 B4 C6 D10 E12");
  CHECK(played.preemptions() == "A2");
}

TEST_CASE("dlas-gpu: promotion compares the wait with the time on the GPUs, not with GPU time") {
  // 2 GPUs, limit 10 GPU seconds; A(2,20) at 0 and B(2,100) at 6. A runs 0-6, which is more than the limit, and waits
  // as long: it comes back at 12. B has run as long by then, and so they take turns, 6 s each, until A has ended: 0-6,
  // 12-18, 24-30, 36-38. B: 6-12, 18-24, 30-36, and from 38 on the 82 s that are left.
  const Choice queues{"dlas-gpu", {{"queues", std::int64_t{2}}, {"limit_1_s", 10.0}, {"promote", 1.0}}};
  const Played played = play(queues, 2, {timed_job(0, 2, 20), timed_job(6, 2, 100)});
  CHECK(played.finishes() == "A38 B120");
  CHECK(played.preemptions() == "A3 B3");
}

TEST_CASE("las preempts a running job that has had a slice more than a waiting one") {
  // 2 GPUs, slices of 4 GPU seconds: A(2,4) at 0, B(1,3) and C(1,6) at 1. 2: A has had 4, B and C start. 5: B ends; C
  // has had 3, A needs both GPUs. 6: C enters the second slice, in which A waits; a running job goes first. 8: C has
  // had 6 and ends.
  const Played played =
      play({"las", {{"slice_s", 4.0}}}, 2, {timed_job(0, 2, 4), timed_job(1, 1, 3), timed_job(1, 1, 6)});
  CHECK(played.finishes() == "A10 B5 C8");
  CHECK(played.preemptions() == "A1");
}

TEST_CASE("migrate: a running job moves so that another has a place, and pays what a preemption costs") {
  // 2 servers of 2 GPUs, each job on one of them: A(1,10), B(1,3), C(1,10) at 0 on GPUs 0, 1, 2; D(2,4) at 1. When B
  // ends at 3, each server has a free GPU, and D needs two on one.
  const std::vector<JobSpec> jobs = {timed_job(0, 1, 10), timed_job(0, 1, 3), timed_job(0, 1, 10), timed_job(1, 2, 4)};
  const Choice still{"las", {{"slice_s", 100.0}}}, moving{"las", {{"slice_s", 100.0}, {"migrate", true}}};
  CHECK(on_one_server_each(still, jobs).finishes() == "A10 B3 C10 D14");
  // At 3 they are placed again in the order A, C, D: A stays on GPU 0, C moves to GPU 1, and D gets server 1.
  Played played = on_one_server_each(moving, jobs);
  CHECK(played.finishes() == "A10 B3 C10 D7");
  CHECK(played.preemptions() == "C1");
  CHECK(played.faults.empty());
  REQUIRE(played.runs.size() == 5);
  CHECK(played.runs[3].job == JobId{2u});
  CHECK(played.runs[3].gpus == std::vector{GpuId{1u}});
  CHECK(played.runs[3].start == Time::seconds(3));
  // With checkpoints after each 2 of work and 2 for a restart C loses 1 of its 3, and needs 2 + 8 more: 13.
  SchedulingRules rules;
  rules.preemption = {Time::seconds(2), Time::seconds(2), Time{}};
  played = on_one_server_each(moving, jobs, rules);
  CHECK(played.finishes() == "A10 B3 C13 D7");
  CHECK(played.result.jobs[2].lost == GpuTime{Time::seconds(1), 1});
  CHECK(played.result.jobs[2].overhead == Time::seconds(2));
}

TEST_CASE("migrate: the placement of those in front decides, and a job without a place gives way") {
  // Slices of 4 GPU seconds. A(1,9) on GPU 0, B(1,9) on GPU 1, C(1,9) on GPU 2, all at 0. D(2,2) at 5, when the others
  // have had 5 and are in the second slice: D is placed first, on server 0, then A and B on server 1. C has no place
  // until D ends at 7 (it has had 4 GPU seconds). Placed again then: A and B run and go first, to server 0; C to GPU 2.
  const std::vector<JobSpec> jobs = {timed_job(0, 1, 9), timed_job(0, 1, 9), timed_job(0, 1, 9), timed_job(5, 2, 2)};
  const Played played = on_one_server_each({"las", {{"slice_s", 4.0}, {"migrate", true}}}, jobs);
  CHECK(played.finishes() == "A9 B9 C11 D7");
  CHECK(played.preemptions() == "A2 B2 C1");
  // Without it C gives way, too, but A and B stay where they are.
  const Played still = on_one_server_each({"las", {{"slice_s", 4.0}}}, jobs);
  CHECK(still.finishes() == "A9 B9 C11 D7");
  CHECK(still.preemptions() == "C1");
}

TEST_CASE("gittins: least attained service until enough jobs have ended, then the best odds") {
  // 1 GPU, quantum 4 s, fit after 3 jobs. A(1,2) and B(1,2) at 0: 0-2, 2-4. C(1,6) at 0: 4-8; then it has had 4, and
  // D(1,6) of 5 nothing: 8-12. Both have had 4; D runs and stays, 12-14. Services so far: 2 2 6. With nothing attained,
  // 2 of 3 end within the quantum, for 2 + 2 + 4 s: 4 s a job. With 4 attained, 1 of 1, for 2 s. So C goes before
  // E(1,1) of 13.
  const std::vector<JobSpec> jobs = {timed_job(0, 1, 2), timed_job(0, 1, 2), timed_job(0, 1, 6), timed_job(5, 1, 6),
                                     timed_job(14, 1, 1)};
  const Choice gittins{"gittins", {{"quantum_s", 4.0}, {"warm_up", std::int64_t{3}}}};
  CHECK(play(gittins, 1, jobs).finishes() == "A2 B4 C16 D14 E17");
  CHECK(play({"las", {{"slice_s", 4.0}}}, 1, jobs).finishes() == "A2 B4 C17 D14 E15");
}

TEST_CASE("gittins: an attempt that fails is no end of a job") {
  // One GPU, quanta of 4 s. A(1, 9 that fail, then 10) has had 9 s when B(1,3) comes at 10 s. No job has ended, so that
  // the one with less service goes first. If the 9 s were the service of a job that ended, A would be likely to end
  // soon.
  std::vector<JobSpec> jobs = {timed_job(0, 1, 10), timed_job(10, 1, 3)};
  jobs[0].attempts = {Time::seconds(9)};
  CHECK(play({"gittins", {{"quantum_s", 4.0}, {"warm_up", std::int64_t{1}}}}, 1, jobs).finishes() == "A22 B13");
}

TEST_CASE("priority: the job with the larger priority takes the GPUs; aging helps jobs that have waited") {
  // 2 GPUs: A(2,5) at 0, B(1,2) priority 2 and C(1,4) priority 1 at 1, D(2,1) priority 1 at 2. 1: A is preempted. 3: B
  // ends; D, behind C, needs both GPUs, A too. 5: C ends, D 5-6, A 6-10.
  const std::vector<JobSpec> jobs = {timed_job(0, 2, 5), with_priority(timed_job(1, 1, 2), 2),
                                     with_priority(timed_job(1, 1, 4), 1), with_priority(timed_job(2, 2, 1), 1)};
  const Played played = play({"priority", {}}, 2, jobs);
  CHECK(played.finishes() == "A10 B3 C5 D6");
  CHECK(played.preemptions() == "A1");
  // Without preemption A ends at 5; then B and C, 5-7 and 5-9, then D.
  CHECK(play({"priority", {{"preemptive", false}}}, 2, jobs).finishes() == "A5 B7 C9 D10");
  // 1 GPU: A(1,3) at 0, B(1,1) at 1, C(1,1) priority 1 at 2. With 2 s a unit C counts as submitted at 0, before B; with
  // half a second at 1.5, behind B.
  const std::vector<JobSpec> aged = {timed_job(0, 1, 3), timed_job(1, 1, 1), with_priority(timed_job(2, 1, 1), 1)};
  CHECK(play({"priority", {{"aging_s", 2.0}}}, 1, aged).finishes() == "A3 B5 C4");
  CHECK(play({"priority", {{"aging_s", 0.5}}}, 1, aged).finishes() == "A3 B4 C5");
}

TEST_CASE("priority: many jobs give way at once, of several rates or of one, and come back") {
  // 100 jobs of one GPU on 100 GPUs, 10 s each; at 2 an urgent job takes all of them for 3 s.
  std::vector<JobSpec> jobs;
  for (int i = 0; i < 100; ++i) jobs.push_back(timed_job(0, 1, 10));
  jobs.push_back(with_priority(timed_job(2, 100, 3), 1));
  const Played played = play({"priority", {}}, 100, jobs);
  for (std::size_t j = 0; j < 100; ++j) {
    CHECK(played.result.jobs[j].preemptions == 1);
    CHECK(played.result.jobs[j].finish == Time::seconds(13));
  }
  CHECK(played.result.jobs[100].finish == Time::seconds(5));
  // Under srsf jobs of one GPU and of two have different rates. At 2 all give way to 100 GPU seconds.
  jobs.clear();
  for (int i = 0; i < 60; ++i) jobs.push_back(timed_job(0, 1, 1000));
  for (int i = 0; i < 20; ++i) jobs.push_back(timed_job(0, 2, 1000));
  jobs.push_back(timed_job(2, 100, 1));
  const Played several = play({"srsf", {{"rewalk", true}}}, 100, jobs);
  for (std::size_t j = 0; j < 80; ++j) {
    CHECK(several.result.jobs[j].preemptions == 1);
    CHECK(several.result.jobs[j].finish == Time::seconds(1001));
  }
  CHECK(several.result.jobs[80].finish == Time::seconds(3));
}

TEST_CASE("easy lets jobs pass that do not delay the first in the queue; conservative delays no job") {
  // 4 GPUs: A(3,4) at 0, B(3,2) at 1: promised 4-6, which leaves one GPU. C(4,2) at 2. D(1,5) at 3: takes that GPU,
  // 3-8. So C starts at 8. Conservative: C is promised 6-8, and D starts behind it.
  const std::vector<JobSpec> jobs = {timed_job(0, 3, 4), timed_job(1, 3, 2), timed_job(2, 4, 2), timed_job(3, 1, 5)};
  CHECK(play({"easy", {}}, 4, jobs).finishes() == "A4 B6 C10 D8");
  CHECK(play({"conservative", {}}, 4, jobs).finishes() == "A4 B6 C8 D13");
  // E(1,1) at 3 ends before B needs anything: both let it pass. F(2,3) at 3 would delay B.
  std::vector<JobSpec> more = {timed_job(0, 3, 4), timed_job(1, 4, 2), timed_job(3, 1, 1), timed_job(3, 2, 3)};
  CHECK(play({"easy", {}}, 4, more).finishes() == "A4 B6 C4 D9");
  CHECK(play({"conservative", {}}, 4, more).finishes() == "A4 B6 C4 D9");
  // A says 10 s and takes 4: C(1,5), which says 5, may start at 3 now: B is expected at 10. When A ends at 4, B has to
  // wait for C. D moves to the front of B: 4-7, because B is promised 8.
  more = {with_limit(timed_job(0, 3, 4), 10), timed_job(1, 4, 2), timed_job(3, 1, 5), timed_job(3, 2, 3)};
  CHECK(play({"easy", {}}, 4, more).finishes() == "A4 B10 C8 D7");
  CHECK(play({"conservative", {}}, 4, more).finishes() == "A4 B10 C8 D7");
  // As if all jobs took twice their time, without limits: B is expected at 8, C to run 3-13: it may not pass.
  CHECK(play({"easy", {{"use_limit", false}, {"estimate_factor", 2.0}}}, 4, more).finishes() == "A4 B6 C11 D9");
}

TEST_CASE("conservative: a promised start between two quanta is missed, and the job starts at the next quantum") {
  // One GPU, decisions every 10 s: A(1,15) holds it until 15, when B(1,5) is promised it. B starts at 20. C(1,5) was
  // promised 20, behind B, which ends at 25; the next quantum is 30.
  SchedulingRules rules;
  rules.quantum = Time::seconds(10);
  ClusterSpec cluster;
  cluster.gpus_per_server = 1;
  cluster.gpu_memory = Bytes{1};
  const std::vector<JobSpec> jobs = {timed_job(0, 1, 15), timed_job(3, 1, 5), timed_job(4, 1, 5)};
  CHECK(play({"conservative", {}}, cluster, jobs, nullptr, rules).finishes() == "A15 B25 C35");
}

TEST_CASE("fair-share: the virtual cluster that has used less goes next") {
  // 2 GPUs, nothing is forgotten. Cluster 0: A(2,4) at 0, B(1,2) at 1. Cluster 1: C(1,3) at 2, D(1,1) at 3, E(1,2)
  // at 4. 4: A ends; 0 has used 8, 1 nothing: C and D. 5: D ends; 1 has used 2: E, 5-7. 7: C and E end, B 7-9.
  const std::vector<JobSpec> jobs = {of_vc(timed_job(0, 2, 4), 0), of_vc(timed_job(1, 1, 2), 0),
                                     of_vc(timed_job(2, 1, 3), 1), of_vc(timed_job(3, 1, 1), 1),
                                     of_vc(timed_job(4, 1, 2), 1)};
  CHECK(play({"fair-share", {{"half_life_s", 0.0}}}, 2, jobs).finishes() == "A4 B9 C7 D5 E7");
  // With a half-life of 0.1 s what A used is forgotten: at 5 (2^-10 x 0.29 GPU s) it is less than what 1 uses: B 5-7, E
  // 7-9.
  CHECK(play({"fair-share", {{"half_life_s", 0.1}}}, 2, jobs).finishes() == "A4 B7 C7 D5 E9");
}

TEST_CASE("fair-share: use counts by the quota, and by 1 of jobs without a virtual cluster") {
  // 2 GPUs, nothing is forgotten. Without a cluster: A(2,4) at 0, C(2,1) at 5. Of the cluster with a quota of 2: B(2,4)
  // at 1, D(2,1) at 6. 8: both have used 8 GPU s, which are 8 for those without and 4 for the cluster: D goes first.
  ClusterSpec cluster;
  cluster.gpus_per_server = 2;
  cluster.gpu_memory = Bytes{1};
  cluster.vcs = {{{}, 2, true}};
  const std::vector<JobSpec> jobs = {of_vc(timed_job(0, 2, 4), -1), of_vc(timed_job(1, 2, 4), 0),
                                     of_vc(timed_job(5, 2, 1), -1), of_vc(timed_job(6, 2, 1), 0)};
  CHECK(play({"fair-share", {{"half_life_s", 0.0}}}, cluster, jobs).finishes() == "A4 B8 C10 D9");
}

TEST_CASE("drf: the example of the paper, 9 CPUs and 18 GB between tasks of (1, 4) and (3, 1)") {
  // Ghodsi et al., section 4.1: the first user runs 3 tasks, the second 2; dominant shares 2/3 each.
  ClusterSpec cluster;
  cluster.gpus_per_server = 10;
  cluster.gpu_memory = Bytes{1};
  cluster.milli_cpus = 9000;
  cluster.host_memory = Bytes{18};
  std::vector<JobSpec> jobs;
  for (std::int32_t i = 0; i < 10; ++i) {
    JobSpec job = timed_job(0, 1, 10);
    job.user = i / 5;
    job.milli_cpus = i < 5 ? 1000 : 3000;
    job.host_memory = Bytes{i < 5 ? 4 : 1};
    jobs.push_back(job);
  }
  const Played played = play({"drf", {{"by_user", true}}}, cluster, jobs);
  int first[2] = {0, 0};
  for (const Hold& hold : played.runs) {
    if (hold.start == Time{}) ++first[hold.job.index() / 5];
  }
  CHECK(first[0] == 3);
  CHECK(first[1] == 2);
}

TEST_CASE("drf: the resource of which an account holds the largest part decides, here CPUs") {
  // 10 GPUs, 9 CPUs. Jobs of the first user need one of each, jobs of the second 3 CPUs. First 1/9, second 3/9, first
  // 2/9, 3/9, 4/9: then 2 CPUs are left, too few for the second, and the first takes one more. The same with twice as
  // many of each, and jobs of two GPUs.
  for (const int gpus : {1, 2}) {
    CAPTURE(gpus);
    ClusterSpec cluster;
    cluster.gpus_per_server = 10 * gpus;
    cluster.gpu_memory = Bytes{1};
    cluster.milli_cpus = 9000 * gpus;
    std::vector<JobSpec> jobs;
    for (std::int32_t i = 0; i < 10; ++i) {
      JobSpec job = timed_job(0, gpus, 10);
      job.user = i / 5;
      job.milli_cpus = i < 5 ? 1000 : 3000;
      jobs.push_back(job);
    }
    const Played played = play({"drf", {{"by_user", true}}}, cluster, jobs);
    int first[2] = {0, 0};
    for (const Hold& hold : played.runs) {
      if (hold.start == Time{}) ++first[hold.job.index() / 5];
    }
    CHECK(first[0] == 5);
    CHECK(first[1] == 1);
  }
}

TEST_CASE("fair-share and drf: borrowed GPUs are taken back, unless that is forbidden") {
  // Cluster 0: A(2,10), B(2,10) at 0; B borrows. Cluster 1: C(1,4) at 3, within its quota: B is preempted. 7: B goes
  // on.
  const std::vector<JobSpec> jobs = {of_vc(timed_job(0, 2, 10), 0), of_vc(timed_job(0, 2, 10), 0),
                                     of_vc(timed_job(3, 1, 4), 1)};
  for (const char* name : {"fair-share", "drf"}) {
    const Played played = play({name, {}}, two_borrowers(), jobs);
    CHECK(played.finishes() == "A10 B14 C7");
    CHECK(played.preemptions() == "B1");
    const Played lenient = play({name, {{"reclaim", false}}}, two_borrowers(), jobs);
    CHECK(lenient.finishes() == "A10 B10 C14");
    CHECK(lenient.preemptions().empty());
  }
}

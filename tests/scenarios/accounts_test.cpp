// Virtual clusters as accounts of a tree: what a scenario may say, and how slurm-backfill orders jobs by it.

#include "scenarios/run/account_tree.hpp"
#include "scenarios/run/explain_job.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "sim/error.hpp"
#include "tests/scenarios/listed_jobs.hpp"
#include "tests/text_checks.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

struct AccountJobs : ListedJobs {
  AccountJobs(const std::string& cluster, const std::string& policy, const std::string& rows) {
    scenario =
        parsed(fmt::format("cluster: {{{}}}\npolicies: {{scheduling: {}, placement: consolidated}}\n"
                           "workload: {{jobs: {}}}\n",
                           cluster, policy, file("jobs.csv", "job_id,submit_s,gpus,duration_s,vc,user\n" + rows)));
  }
  /// Starts in seconds, by job: `r 0, s 2`.
  [[nodiscard]] std::string starts() const {
    std::string text;
    for (const JobResult& job : run().jobs)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", job.name, job.start.to_seconds());
    return text;
  }
};

constexpr const char* kTiers =
    "servers: 2, gpus_per_server: 4, vcs: [{name: low, weight: 1}, {name: hi, weight: 1, priority: 5}]";

}  // namespace

TEST_CASE("slurm-backfill, S6: jobs of a partition with a larger priority keep their nodes from others") {
  // r has n1 until 60 min = 3,600 s, s has n2 until 7,202 s. hi, of the larger priority, is planned on n1 at 3,600 s
  // though low stands before it, and low behind it at 7,200 s.
  const AccountJobs jobs{kTiers, "{policy: slurm-backfill, bf_interval_s: 0, batch_sched_delay_s: 0}",
                         "r,0,4,3600,low,\ns,2,4,7200,low,\nlow,4,4,3600,low,\nhi,4,4,3600,hi,\n"};
  CHECK(jobs.starts() == "r 0, s 2, low 7200, hi 3600");
  for (const auto& [name, planned] : {std::pair{"hi", 3600}, std::pair{"low", 7200}}) {
    const ExplainedJob explained = explain_job(jobs.scenario, 1, name);
    REQUIRE(!explained.explanation.reservations.empty());
    CHECK(explained.explanation.reservations.front().first.start == Time::seconds(planned));
  }
}

TEST_CASE("slurm-backfill: a job over the quota of its virtual cluster blocks no other and has no plan") {
  const AccountJobs jobs{"servers: 1, gpus_per_server: 4, vcs: [{name: q, gpus: 2}, {name: rest, gpus: 4}]",
                         "{policy: slurm-backfill, bf_interval_s: 0, batch_sched_delay_s: 0}",
                         "q1,0,1,100,q,\nq2,0,1,100,q,\nq3,1,1,100,q,\nx,2,2,50,rest,\n"};
  CHECK(jobs.starts() == "q1 0, q2 0, q3 100, x 2");
  CHECK(explain_job(jobs.scenario, 1, "q3").explanation.reservations.empty());
}

TEST_CASE("jobs of a virtual cluster that is not there are refused before a policy looks at the accounts") {
  for (const char* policy : {"fifo", "drf", "fair-share", "slurm-backfill"}) {
    CAPTURE(policy);
    const Scenario scenario =
        parsed(fmt::format("cluster: {{{}}}\nworkload: {{like: philly, jobs: 10, scaling: {{largest: 4}}}}\n"
                           "policies: {{scheduling: {}}}\n",
                           kTiers, policy));
    CHECK_THROWS_WITH_AS(static_cast<void>(run_scenario(scenario, 1)), doctest::Contains("that is not there"),
                         InputError);
  }
}

TEST_CASE("slurm-backfill: the account that has used less of its share goes first, and the user in it") {
  // ann has used 4 x 600 GPU s of phys when the GPUs become free at 600 s. chem has used nothing, so cat goes first;
  // then ben, who has used nothing of phys, before ann. In order of submission it would be ann, cat, ben.
  const std::string rows = "a1,0,4,600,phys,ann\na2,300,4,60,phys,ann\nc,301,4,60,chem,cat\nb,302,4,60,phys,ben\n";
  const std::string cluster =
      "servers: 1, gpus_per_server: 4, vcs: [{name: uni}, {name: phys, parent: uni, weight: 60}, {name: chem, parent: "
      "uni, weight: 40}]";
  const std::string policy = "policy: slurm-backfill, bf_interval_s: 0, batch_sched_delay_s: 0";
  const AccountJobs fair{cluster, "{" + policy + ", weight_fairshare: 1000, calc_period_s: 60}", rows};
  CHECK(fair.starts() == "a1 0, a2 720, c 600, b 660");
  const AccountJobs plain{cluster, "{" + policy + "}", rows};
  CHECK(plain.starts() == "a1 0, a2 600, c 660, b 720");
  // With age alone jobs stay in the order of submission; with a large enough priority of a job it doesn't.
  CHECK(AccountJobs{cluster, "{" + policy + ", weight_age: 1000}", rows}.starts() == "a1 0, a2 600, c 660, b 720");
}

TEST_CASE("fair-share and drf weigh virtual clusters by their weights if they have any") {
  // At 200 s both have used 400 GPU s, x earlier. By its quota x goes first; with a weight of an eighth of that, y
  // does.
  const std::string rows = "x1,0,4,100,x,\ny1,1,4,100,y,\ny2,2,4,100,y,\nx2,3,4,100,x,\n";
  const auto starts = [&](const std::string& weights) {
    return AccountJobs{"servers: 1, gpus_per_server: 4, vcs: [{name: x, gpus: 4" + weights + "}, {name: y, gpus: 4}]",
                       "fair-share", rows}
        .starts();
  };
  CHECK(starts("") == "x1 0, y1 100, y2 300, x2 200");
  CHECK(starts(", weight: 0.5") == "x1 0, y1 100, y2 200, x2 300");
}

TEST_CASE("the tree of accounts has the virtual clusters of the jobs first, and users with and without weights") {
  const AccountJobs jobs{
      "servers: 1, gpus_per_server: 4, vcs: [{name: top}, {name: b, parent: top, weight: 2, priority: 3, job_factor: "
      "4, "
      "users: [{name: zoe, weight: 5}, {name: nobody}]}, {name: a, gpus: 4}]",
      "slurm-backfill", "j,0,1,10,a,zoe\nk,0,1,10,b,zoe\nl,0,1,10,b,ann\n"};
  const Workload workload = scenario_workload(jobs.scenario, 1);
  const AccountTree tree = account_tree(jobs.scenario.cluster, workload);
  REQUIRE(tree.accounts.size() == 3);
  CHECK(workload.vcs == std::vector<std::string>{"a", "b"});
  CHECK(tree.accounts[0].parent == -1);
  CHECK(tree.accounts[1].parent == 2);
  CHECK(tree.accounts[1].weight == 2);
  CHECK(tree.accounts[1].priority == 3);
  CHECK(tree.accounts[1].job_factor == 4);
  std::string users;
  for (const AccountUser& user : tree.users) users += fmt::format("{}/{} {}; ", user.account, user.user, user.weight);
  CHECK(users == "0/0 1; 1/0 5; 1/1 1; 1/2 1; ");
}

TEST_CASE("accounts: circles, unknown parents and weights of 0 are refused, each with what would be right") {
  const auto errors = [](const std::string& vcs) { return errors_of("cluster: {vcs: [" + vcs + "]}\n"); };
  CHECK(errors("{name: a, parent: b}, {name: b, weight: 2}") == "");
  const std::string circle =
      errors("{name: a, parent: b}, {name: b, parent: c}, {name: c, parent: a}, {name: d, parent: a}");
  CHECK_MESSAGE(contains(circle, "the parents make a circle (a below b below c below a); leave out the parent of one"),
                circle);
  CHECK(circle.find("circle") == circle.rfind("circle"));
  const std::string itself = errors("{name: a, parent: a}");
  CHECK_MESSAGE(contains(itself, "circle (a below a)"), itself);
  const std::string unknown = errors("{name: physics, weight: 1}, {name: b, parent: phisics}");
  CHECK_MESSAGE(contains(unknown, "the parent `phisics` of `b` is not in the list; did you mean \"physics\"?"),
                unknown);
  const std::string lone = errors("{name: b, parent: uni}");
  CHECK_MESSAGE(contains(lone, "the parent `uni` of `b` is not in the list; add {name: uni}"), lone);
  const std::string weight = errors("{name: a, weight: 0}");
  CHECK_MESSAGE(
      contains(weight, "the weight of `a` is 0, so that nothing would be its fair share; give it a weight above"),
      weight);
  const std::string user = errors("{name: a, gpus: 1, users: [{name: ann, weight: 0}, {name: ann}]}");
  CHECK_MESSAGE(contains(user, "the weight of the user `ann` of `a` is 0"), user);
  CHECK_MESSAGE(contains(user, "`a` has the user `ann` twice"), user);
  CHECK(contains(errors("{name: a}"), "`a` needs servers or gpus, one of the two"));
  const std::string half_life =
      errors_of("policies: {scheduling: {policy: slurm-backfill, weight_fairshare: 1, half_life_s: 0}}\n");
  CHECK_MESSAGE(contains(half_life, "half_life_s"), half_life);
  const std::string unweighed = errors_of("policies: {scheduling: {policy: slurm-backfill, half_life_s: 60}}\n");
  CHECK_MESSAGE(contains(unweighed, "half_life_s: changes nothing with weight_fairshare: 0"), unweighed);
}

TEST_CASE("accounts: the check of a scenario names what its policy doesn't look at") {
  const std::string rows = "r,0,4,3600,low,\n";
  const auto warnings_of = [&](const std::string& cluster, const std::string& policy) {
    std::string all;
    for (const std::string& each : check_scenario(AccountJobs{cluster, policy, rows}.scenario)) all += each;
    return all;
  };
  const auto warnings = [&](const std::string& policy) {
    return warnings_of(
        "servers: 2, gpus_per_server: 4, vcs: [{name: low, weight: 2}, {name: hi, weight: 1, priority: 5}]", policy);
  };
  // Weights of 1 only make accounts.
  CHECK(warnings_of(kTiers, "fifo") ==
        "cluster.vcs: the policy `fifo` doesn't look at priority; kai, slurm-backfill and volcano do");
  CHECK(warnings("fifo") ==
        "cluster.vcs: the policy `fifo` doesn't look at weight, priority; kai, slurm-backfill with weight_fairshare "
        "above 0 and volcano do");
  CHECK(warnings("kueue") ==
        "cluster.vcs: the policy `kueue` doesn't look at weight, priority; with fair_sharing: true it looks at weight; "
        "at "
        "priority kai, slurm-backfill and volcano do");
  CHECK(warnings("drf") ==
        "cluster.vcs: the policy `drf` doesn't look at priority; kai, slurm-backfill and volcano do");
  CHECK(warnings("{policy: slurm-backfill, weight_fairshare: 1}") == "");
  CHECK(warnings("slurm-backfill") ==
        "cluster.vcs: the policy `slurm-backfill` doesn't look at weight; with weight_fairshare above 0 it looks at "
        "weight");
  CHECK(warnings("{policy: drf, by_user: true}") ==
        "cluster.vcs: the policy `drf` doesn't look at weight, priority; with by_user: false it looks at weight; "
        "at priority kai, slurm-backfill and volcano do");
}

TEST_CASE("accounts: the check of a scenario says where a quota that may be exceeded guarantees nothing") {
  const auto warnings = [&](const std::string& policy) {
    std::string all;
    const AccountJobs jobs{"servers: 1, gpus_per_server: 4, vcs: [{name: low, gpus: 2, borrow: true}]", policy,
                           "r,0,4,3600,low,\n"};
    for (const std::string& each : check_scenario(jobs.scenario)) all += each;
    return all;
  };
  CHECK(warnings("fair-share") == "");
  CHECK(warnings("{policy: drf, by_user: true}") == "");
  CHECK(warnings("easy") ==
        "cluster.vcs: under the policy `easy` `gpus` guarantees nothing to virtual clusters with `borrow: true`; under "
        "drf, fair-share, kai, kueue and volcano it does");
}

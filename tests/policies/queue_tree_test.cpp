// Quotas and queues of Kueue, Volcano and KAI: worked examples, and random lists against plain loops. In runs times are
// in seconds and name(GPUs, duration) is a job.

#include "policies/scheduling/queue_tree.hpp"
#include "policies/scheduling/queue_shares.hpp"
#include "sim/random_stream.hpp"
#include "tests/near.hpp"
#include "tests/policies/scheduling_kit.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// A queue or cohort below `parent` that may borrow any number of GPUs.
Account queue_of(std::int32_t parent, int gpus, QueueRules rules = {}) {
  return {.parent = parent, .name = "q", .gpus = gpus, .borrows = true, .rules = rules};
}

JobSpec queue_job(std::int32_t vc, std::int64_t submit, int gpus, std::int64_t duration, std::int32_t priority = 0) {
  JobSpec job = timed_job(submit, gpus, duration);
  job.vc = vc;
  job.priority = priority;
  return job;
}

Played play_queues(const Choice& policy, int gpus, const std::vector<Account>& accounts, std::vector<JobSpec> jobs,
                   std::vector<std::vector<JobSize>> sizes = {}) {
  ClusterSpec cluster;
  cluster.gpus_per_server = gpus;
  cluster.gpu_memory = Bytes{1};
  AccountTree tree;
  tree.accounts = accounts;
  return play(policy, cluster, std::move(jobs), nullptr, {}, std::move(sizes), {}, {}, {}, tree);
}

const Choice kKueue{"kueue", {}}, kFairKueue{"kueue", {{"fair_sharing", true}}};
const QueueRules kTakesBack{.reclaim = PreemptionRule::any};

}  // namespace

TEST_CASE("kueue K1: what queues have and may borrow, with a lending and a borrowing limit") {
  AccountTree accounts;
  accounts.accounts = {queue_of(2, 10, {.lending_limit = 4}), queue_of(2, 5, {.borrowing_limit = 3}), {.name = "root"}};
  accounts.accounts[2].gpus = 0;
  QueueTree tree{accounts};
  tree.use(0, 8);
  tree.use(1, 4);
  CHECK(tree.subtree(2) == 9);
  CHECK(tree.usage(2) == 6);
  CHECK(tree.available(0) == 3);
  CHECK(tree.available(1) == 3);
  CHECK(tree.potential(0) == 15);
  CHECK(tree.potential(1) == 8);
  tree.use(0, -8);
  tree.use(1, -4);
  CHECK(tree.usage(2) == 0);
  CHECK(tree.available(1) == 8);
}

TEST_CASE("kueue K2: shares of queues and of a cohort inside another") {
  AccountTree accounts;
  accounts.accounts = {queue_of(2, 4), queue_of(2, 4), queue_of(4, 0), queue_of(4, 4), queue_of(-1, 0)};
  accounts.accounts[1].weight = 2;
  accounts.accounts[2].weight = 3;
  QueueTree tree{accounts};
  tree.use(0, 6);
  tree.use(1, 8);
  for (std::size_t n = 0; n < 3; ++n) CHECK(tree.share(n) == near(500.0 / 3));
  CHECK(tree.share(3) == 0);
}

TEST_CASE("kueue K3: a job within the quota goes before one of larger priority that borrows") {
  // Quotas of 4: A of queue 1 and B of queue 0 leave 2 GPUs, which belong to queue 0.
  const Played played = play_queues(
      kKueue, 8, {queue_of(2, 4), queue_of(2, 4), queue_of(-1, 0)},
      {queue_job(1, 0, 4, 100), queue_job(0, 0, 2, 100), queue_job(0, 1, 2, 10), queue_job(1, 1, 2, 10, 100)});
  CHECK(played.finishes() == "A100 B100 C11 D21");
}

TEST_CASE("kueue K4: few victims, and the ones that aren't needed stay") {
  const std::vector<Account> accounts = {queue_of(2, 4, kTakesBack), queue_of(2, 4), queue_of(-1, 0)};
  const Played played = play_queues(
      kKueue, 8, accounts,
      {queue_job(1, 0, 2, 100, 10), queue_job(1, 0, 2, 100), queue_job(1, 0, 2, 100), queue_job(0, 5, 4, 10)});
  CHECK(played.preemptions() == "C1");
  CHECK(played.finishes() == "A100 B100 C110 D15");
  // C(1) is taken first, then B(3), which suffices alone.
  const Played filled =
      play_queues(kKueue, 8, accounts,
                  {queue_job(1, 0, 3, 100), queue_job(1, 0, 3, 100), queue_job(1, 0, 1, 100), queue_job(0, 5, 4, 10)});
  CHECK(filled.preemptions() == "B1");
  CHECK(filled.finishes() == "A100 B110 C100 D15");
  // Without a rule that lets it take anything back, D waits.
  const Played waits =
      play_queues(kKueue, 8, {queue_of(2, 4), queue_of(2, 4), queue_of(-1, 0)},
                  {queue_job(1, 0, 3, 100), queue_job(1, 0, 3, 100), queue_job(1, 0, 1, 100), queue_job(0, 5, 4, 10)});
  CHECK(waits.finishes() == "A100 B100 C100 D110");
}

TEST_CASE("kueue K5: under fair sharing three equal quotas of 3 end at 4 and 5 GPUs, not 4.5") {
  std::vector<JobSpec> jobs;
  for (int j = 0; j < 3; ++j) jobs.push_back(queue_job(0, 0, 1, 100));
  for (int j = 0; j < 6; ++j) jobs.push_back(queue_job(1, 0, 1, 100));
  jobs.push_back(queue_job(0, 5, 1, 10));
  jobs.push_back(queue_job(0, 6, 1, 10));
  const std::vector<Account> accounts = {queue_of(3, 3, kTakesBack), queue_of(3, 3), queue_of(3, 3), queue_of(-1, 0)};
  const Played played = play_queues(kFairKueue, 9, accounts, jobs);
  CHECK(played.preemptions() == "I1");
  CHECK(played.finishes() == "A100 B100 C100 D100 E100 F100 G100 H100 I120 J15 K25");
}

TEST_CASE("kueue: a strict queue waits for its first job, another lets the job step aside") {
  QueueRules strict;
  strict.strict = true;
  const std::vector<JobSpec> jobs = {queue_job(0, 0, 3, 10), queue_job(0, 0, 2, 10), queue_job(0, 0, 1, 10)};
  CHECK(play_queues(kKueue, 4, {{.gpus = 4, .rules = strict}}, jobs).finishes() == "A10 B20 C20");
  CHECK(play_queues(kKueue, 4, {{.gpus = 4}}, jobs).finishes() == "A10 B20 C10");
}

TEST_CASE("kueue: preemption in the queue, by priority and by age") {
  const std::vector<JobSpec> jobs = {queue_job(0, 1, 2, 100), queue_job(0, 2, 2, 100), queue_job(0, 5, 2, 10, 1)};
  CHECK(play_queues(kKueue, 4, {{.gpus = 4}}, jobs).preemptions().empty());
  const std::vector<Account> lower = {{.gpus = 4, .rules = {.within = PreemptionRule::lower}}};
  CHECK(play_queues(kKueue, 4, lower, jobs).preemptions() == "B1");
  CHECK(play_queues(kKueue, 4, lower, jobs).finishes() == "A101 B112 C15");
}

TEST_CASE("kueue: a job of larger priority preempts though one that asks for as much waits in vain") {
  Account queue = queue_of(-1, 2, {.within = PreemptionRule::lower});
  queue.borrows = false;
  std::vector<JobSpec> jobs(2, queue_job(0, 0, 1, 100, 1));
  jobs.push_back(queue_job(0, 5, 1, 100, 1));
  jobs.push_back(queue_job(0, 10, 1, 20, 5));
  CHECK(play_queues(kKueue, 2, {queue}, jobs).finishes().find("D30") != std::string::npos);
}

TEST_CASE("kueue: a job that borrows while it preempts takes jobs up to the threshold only") {
  // Quotas of 2 and 6: A and B of queue 1 hold 8, of which 2 are borrowed. C of queue 0 wants 4, so 2 more than its
  // own.
  const std::vector<JobSpec> jobs = {queue_job(1, 0, 4, 100, 60), queue_job(1, 0, 4, 100, 40),
                                     queue_job(0, 5, 4, 10, 100)};
  const auto with = [&](bool borrows, std::optional<int> threshold) {
    QueueRules rules = kTakesBack;
    rules.borrow_preempting = borrows;
    rules.borrow_threshold = threshold;
    return play_queues(kKueue, 8, {queue_of(2, 2, rules), queue_of(2, 6), queue_of(-1, 0)}, jobs).preemptions();
  };
  CHECK(with(false, {}).empty());
  CHECK(with(true, {}) == "B1");
  CHECK(with(true, 50) == "B1");
  CHECK(with(true, 30).empty());
}

TEST_CASE("kueue: queues and cohorts never use more than their quotas and limits allow") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO(seed);
    RandomStream draw{seed, "queues"};
    const auto number = [&](int least, int most) { return static_cast<int>(draw.uniform_integer(least, most)); };
    std::vector<Account> accounts;
    int total = 0;
    for (int q = 0; q < 4; ++q) {
      Account queue = queue_of(q < 2 ? 4 : 5, number(0, 6), q % 2 == 0 ? kTakesBack : QueueRules{});
      total += *queue.gpus;
      if (number(0, 1) == 0) queue.rules.borrowing_limit = number(0, 4);
      if (number(0, 1) == 0) queue.rules.lending_limit = number(0, *queue.gpus);
      accounts.push_back(queue);
    }
    accounts.push_back(queue_of(5, 0));
    accounts.push_back(queue_of(-1, 0));
    std::vector<JobSpec> jobs;
    for (int j = 0; j < 24; ++j)
      jobs.push_back(queue_job(number(0, 3), number(0, 40), number(1, 4), number(1, 30), number(0, 2)));
    const Choice policy = seed % 2 == 0 ? kKueue : kFairKueue;
    if (total == 0) continue;
    const Played played = play_queues(policy, total, accounts, jobs);
    CHECK(played.faults.empty());
    // Plain loops over all instants at which anything begins: what each queue holds.
    for (const Hold& at : played.runs) {
      std::vector<int> held(4);
      for (const Hold& run : played.runs)
        if (run.start <= at.start && at.start < run.end)
          held[static_cast<std::size_t>(jobs[run.job.index()].vc)] += static_cast<int>(run.gpus.size());
      int outside = 0, lent = 0;
      for (std::size_t q = 0; q < 4; ++q) {
        const int own = *accounts[q].gpus;
        if (accounts[q].rules.borrowing_limit) CHECK(held[q] <= own + *accounts[q].rules.borrowing_limit);
        outside += std::max(0, held[q] - own);
        lent += std::min(std::max(0, own - held[q]), accounts[q].rules.lending_limit.value_or(own));
      }
      CHECK(outside <= lent);
    }
  }
}

TEST_CASE("volcano V1: what queues deserve by weight, and with guarantee and capability") {
  const std::vector<QueueClaim> by_weight = {
      {.weight = 1, .request = 10}, {.weight = 2, .request = 2}, {.weight = 3, .request = 10}};
  CHECK(volcano_deserved(12, by_weight) == std::vector<double>{2.5, 2, 7.5});
  const std::vector<QueueClaim> with_limits = {
      {.weight = 1, .quota = 4, .request = 10}, {.weight = 2, .limit = 3, .request = 10}, {.weight = 3, .request = 10}};
  CHECK(volcano_deserved(12, with_limits) == std::vector<double>{4, 3, 6});
}

TEST_CASE("volcano V1: a queue takes whole GPUs of its deserved share, so that a GPU stays idle") {
  std::vector<JobSpec> jobs;
  for (const auto& [queue, count] : std::vector<std::pair<int, int>>{{0, 10}, {1, 2}, {2, 10}})
    for (int j = 0; j < count; ++j) jobs.push_back(queue_job(queue, 0, 1, 100));
  std::vector<Account> accounts(3);
  accounts[0].weight = 1;
  accounts[1].weight = 2;
  accounts[2].weight = 3;
  const Played played = play_queues({"volcano", {{"enqueue", false}}}, 12, accounts, jobs);
  std::vector<int> first(3);
  for (const Hold& run : played.runs)
    if (run.start == Time{}) ++first[static_cast<std::size_t>(jobs[run.job.index()].vc)];
  CHECK(first == std::vector<int>{2, 2, 7});
}

TEST_CASE("volcano V2: a rigid gang gives nothing back, one with a smaller minimum shrinks to what is deserved") {
  // Queue 0 deserves 10 and holds 12 with one gang; queue 1 deserves 10 and holds 8; C(2) of it waits.
  std::vector<JobSpec> jobs = {queue_job(0, 0, 12, 100), queue_job(1, 0, 8, 100), queue_job(1, 5, 2, 10)};
  const Choice policy{"volcano", {{"capacity", true}, {"reclaim", true}, {"enqueue", false}}};
  const std::vector<Account> accounts = {queue_of(-1, 10), queue_of(-1, 10)};
  CHECK(play_queues(policy, 20, accounts, jobs).finishes() == "A100 B100 C110");
  std::vector<JobSize> sizes;
  for (int gpus = 8; gpus <= 12; ++gpus) sizes.push_back({.gpus = gpus, .paces = {{}}});
  jobs[0].sizes = 0;
  const Played played = play_queues(policy, 20, accounts, jobs, {sizes});
  CHECK(holds(played).starts_with("A12 0-5, B8 0-100, A10 5-"));
  CHECK(holds(played).find("C2 5-15") != std::string::npos);
  // The action gangreclaim evicts the gang.
  jobs[0].sizes = -1;
  const Choice gangs{"volcano", {{"capacity", true}, {"gang_reclaim", true}, {"enqueue", false}}};
  CHECK(play_queues(gangs, 20, accounts, jobs).preemptions() == "A1");
}

TEST_CASE("volcano V3: queues of a hierarchy go by what their parents hold for their weights") {
  // sci(weight 1) {x 1, y 3} and eng(weight 2) hold 8 of 16 GPUs each, x and y 4 each, until 10; each has jobs left.
  std::vector<Account> accounts = {
      {.parent = 3, .weight = 1.0}, {.parent = 3, .weight = 3.0}, {.weight = 2.0}, {.weight = 1.0}};
  for (Account& account : accounts) account.rules.guarantee = 16;  // everybody deserves all
  std::vector<JobSpec> jobs = {queue_job(0, 0, 4, 100), queue_job(1, 0, 4, 100), queue_job(2, 0, 7, 100),
                               queue_job(2, 0, 1, 10),  queue_job(0, 1, 1, 30),  queue_job(1, 1, 1, 30),
                               queue_job(2, 1, 1, 30)};
  const Played played = play_queues({"volcano", {{"hierarchy", true}, {"enqueue", false}}}, 16, accounts, jobs);
  CHECK(played.finishes() == "A100 B100 C100 D10 E100 F70 G40");
}

TEST_CASE("kai A1 to A4: fair shares over quotas") {
  const std::vector<QueueClaim> a1 = {{.weight = 1, .quota = 2, .request = 10},
                                      {.weight = 3, .quota = 4, .request = 10},
                                      {.weight = 1, .quota = 2, .request = 1}};
  CHECK(kai_fair_shares(10, a1, 0) == std::vector<double>{3, 6, 1});
  std::vector<QueueClaim> a2 = a1;
  a2[0].usage = 0.5;
  a2[1].usage = 0.1;
  CHECK(kai_fair_shares(10, a2, 1) == std::vector<double>{2, 7, 1});
  std::vector<QueueClaim> a3 = a1;
  a3[0].priority = 200;
  a3[0].request = 4;
  CHECK(kai_fair_shares(10, a3, 0) == std::vector<double>{4, 5, 1});
  const std::vector<QueueClaim> a4 = {{.quota = 4, .request = 64}, {.quota = 4, .request = 32}};
  CHECK(kai_fair_shares(32, a4, 0) == std::vector<double>{16, 16});
  const std::vector<QueueClaim> odd = {{.request = 10}, {.request = 10}};
  CHECK(kai_fair_shares(7, odd, 0) == std::vector<double>{4, 3});
}

TEST_CASE("kai A4: single GPUs are taken back until both queues have their fair shares") {
  std::vector<JobSpec> jobs;
  for (int j = 0; j < 64; ++j) jobs.push_back(queue_job(0, 0, 1, 1000));
  for (int j = 0; j < 32; ++j) jobs.push_back(queue_job(1, 5, 1, 1000));
  const Played played = play_queues({"kai", {}}, 32, {queue_of(-1, 4), queue_of(-1, 4)}, jobs);
  int alice = 0, bob = 0;
  for (const Hold& run : played.runs)
    if (run.start <= Time::seconds(6) && run.end > Time::seconds(6)) ++(jobs[run.job.index()].vc == 0 ? alice : bob);
  CHECK(alice == 16);
  CHECK(bob == 16);
}

TEST_CASE("kai A5: a whole gang of 12 goes for a job of one GPU, and then waits") {
  const Played played = play_queues({"kai", {}}, 24, {queue_of(-1, 0), queue_of(-1, 0)},
                                    {queue_job(0, 0, 12, 100), queue_job(0, 0, 12, 100), queue_job(1, 5, 1, 50)});
  CHECK(played.preemptions() == "B1");
  CHECK(played.finishes() == "A100 B150 C55");
  // For 20 s nobody takes its GPUs.
  const Played later = play_queues({"kai", {{"reclaim_min_runtime_s", 20.0}}}, 24, {queue_of(-1, 0), queue_of(-1, 0)},
                                   {queue_job(0, 0, 12, 100), queue_job(0, 0, 12, 100), queue_job(1, 5, 1, 50)});
  CHECK(later.finishes() == "A100 B150 C70");
}

TEST_CASE("kai: running jobs move together if that makes a place, and each of them gets one") {
  // Two servers of 4. A(2) and B(2) fill the first, C(2) is on the second; A ends at 5, and D(4) needs one server: C
  // moves to the first.
  ClusterSpec cluster;
  cluster.servers = 2;
  cluster.gpus_per_server = 4;
  cluster.gpu_memory = Bytes{1};
  const std::vector<JobSpec> jobs = {queue_job(0, 0, 2, 5), queue_job(0, 0, 2, 50), queue_job(0, 0, 2, 50),
                                     queue_job(0, 6, 4, 10)};
  AccountTree tree;
  tree.accounts = {queue_of(-1, 8)};
  const auto run = [&](std::int64_t moved) {
    return play({"kai", {{"consolidated", moved}}}, cluster, jobs, one_server(), {}, {}, {}, {}, {}, tree);
  };
  CHECK(run(16).finishes() == "A5 B50 C50 D16");
  CHECK(holds(run(16)).find("C2 6-50") != std::string::npos);
  CHECK(run(0).finishes() == "A5 B50 C50 D60");
}

TEST_CASE("kai: quotas of jobs that can't be preempted, and preemption at a queue's limit") {
  // A asks for quota that there isn't; B, which can be preempted, needs none.
  CHECK(play_queues({"kai", {}}, 4, {queue_of(-1, 0)}, {queue_job(0, 0, 1, 10, 100), queue_job(0, 0, 1, 10)})
            .finishes()
            .find("B10") != std::string::npos);
  // Four GPUs of jobs that can be preempted don't count against the quota of 4 for C.
  std::vector<JobSpec> jobs(4, queue_job(0, 0, 1, 100));
  jobs.push_back(queue_job(0, 10, 2, 20, 100));
  CHECK(play_queues({"kai", {}}, 8, {queue_of(-1, 4)}, jobs).finishes().find("E30") != std::string::npos);
  // In a queue that is at its limit a job of larger priority preempts.
  jobs.back() = queue_job(0, 10, 1, 20, 50);
  Account at_its_limit = queue_of(-1, 4);
  at_its_limit.borrows = false;
  CHECK(play_queues({"kai", {}}, 4, {at_its_limit}, jobs).finishes().find("E30") != std::string::npos);
}

TEST_CASE("volcano: guarantees hold GPUs back for queues without jobs, at each level") {
  // Of 10 GPUs four are kept for q0.
  const std::vector<Account> flat = {queue_of(-1, 0, {.guarantee = 4}), queue_of(-1, 0)};
  CHECK(play_queues({"volcano", {}}, 10, flat, {queue_job(1, 0, 6, 10), queue_job(1, 0, 4, 10)}).finishes() ==
        "A10 B20");
  // Below a parent a job of 4 runs beside them.
  const std::vector<Account> below = {queue_of(2, 4, {.guarantee = 4}), queue_of(2, 0), queue_of(-1, 0)};
  CHECK(play_queues({"volcano", {}}, 10, below, {queue_job(1, 0, 4, 10)}).finishes() == "A10");
  CHECK(play_queues({"volcano", {}}, 10, below, {queue_job(0, 0, 1, 10), queue_job(1, 0, 4, 10)}).finishes() ==
        "A10 B10");
}

TEST_CASE("kai and volcano: queues below one parent play as without it") {
  // The parent has no quota and no limit of its own, so it changes nothing.
  const std::vector<Choice> policies = {
      {"kai", {}}, {"volcano", {{"gang_reclaim", true}}}, {"volcano", {{"capacity", true}, {"gang_reclaim", true}}}};
  for (const Choice& policy : policies) {
    CAPTURE(policy.name);
    const auto compare = [&](const std::vector<JobSpec>& jobs) {
      const Played flat = play_queues(policy, 8, {queue_of(-1, 4), queue_of(-1, 4)}, jobs);
      const Played below = play_queues(policy, 8, {queue_of(2, 4), queue_of(2, 4), {.name = "root"}}, jobs);
      CHECK(below.finishes() == flat.finishes());
      CHECK(below.preemptions() == flat.preemptions());
      return below.preemptions();
    };
    CHECK(compare({queue_job(0, 0, 4, 1000), queue_job(0, 0, 4, 1000), queue_job(1, 60, 4, 100)}) == "B1");
    RandomStream draw{7, "parents"};
    const auto number = [&](int least, int most) { return static_cast<int>(draw.uniform_integer(least, most)); };
    for (int round = 0; round < 20; ++round) {
      std::vector<JobSpec> jobs;
      for (int j = 0; j < 14; ++j) jobs.push_back(queue_job(number(0, 1), number(0, 60), number(1, 6), number(1, 90)));
      std::ranges::stable_sort(jobs, {}, &JobSpec::submit);
      CAPTURE(round);
      compare(jobs);
    }
  }
}

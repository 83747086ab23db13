// Fair tree on the examples that were run on Slurm 22.05.8 or follow from its rules, and multifactor priorities by
// hand.

#include "policies/scheduling/fair_tree.hpp"
#include "policies/scheduling/multifactor.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/policies/policy_kit.hpp"

#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

FairTreeNode account(std::int32_t parent, double shares) {
  return {.parent = parent, .shares = shares};
}
FairTreeNode user(std::int32_t parent, double shares, double usage) {
  return {.parent = parent, .is_user = true, .shares = shares, .usage = usage};
}

/// The parameters of slurm-backfill, some of them given.
Parameters slurm_parameters(const std::vector<std::pair<std::string, ParameterValue>>& given) {
  const auto rows = scheduling_policies();
  const auto row = std::ranges::find_if(rows, [](const auto& each) { return each.name == "slurm-backfill"; });
  std::vector<std::pair<std::string, ParameterValue>> values;
  for (const ParameterInfo& info : row->parameters) {
    values.emplace_back(info.name, info.default_value);
    for (const auto& [name, value] : given)
      if (name == info.name) values.back().second = value;
  }
  return Parameters{std::move(values)};
}

/// 64 servers of 4 GPUs and 96 CPUs.
class SixtyFourServers final : public ClusterView {
 public:
  [[nodiscard]] Time now() const override { return {}; }
  [[nodiscard]] std::size_t servers() const override { return 64; }
  [[nodiscard]] std::size_t gpus() const override { return 256; }
  [[nodiscard]] ServerId server_of(GpuId gpu) const override { return ServerId{gpu.index() / 4}; }
  [[nodiscard]] Bytes free_memory(GpuId) const override { return {}; }
  void jobs_on(GpuId, std::vector<JobId>&) const override {}
  [[nodiscard]] JobView job(JobId) const override { return {}; }
  [[nodiscard]] std::span<const GpuId> gpus_of(JobId) const override { return {}; }
  [[nodiscard]] Time load(GpuId) const override { return {}; }
  [[nodiscard]] int free_gpus() const override { return 256; }
  [[nodiscard]] int free_gpus(ServerId) const override { return 4; }
  [[nodiscard]] ServerId next_server(int, ServerId) const override { return ServerId::none(); }
  [[nodiscard]] int free_share(GpuId) const override { return kWholeGpu; }
  [[nodiscard]] std::int64_t free_milli_cpus(ServerId) const override { return 96'000; }
  [[nodiscard]] Bytes free_host_memory(ServerId) const override { return Bytes{1'000}; }
  [[nodiscard]] bool fits(GpuId, const JobView&) const override { return true; }
  [[nodiscard]] ServerRange servers_for(const JobView&) const override { return {0, 64}; }
  [[nodiscard]] bool owns_servers(std::int32_t) const override { return false; }
  [[nodiscard]] int free_gpus_of_vc(std::int32_t) const override { return 256; }
  [[nodiscard]] int gpus_in_service(std::int32_t, std::int32_t) const override { return 256; }
  [[nodiscard]] int vc_quota(std::int32_t) const override { return INT_MAX; }
  [[nodiscard]] int vc_used(std::int32_t) const override { return 0; }
  [[nodiscard]] int quota_left(std::int32_t) const override { return INT_MAX; }
};

/// 8 servers with 64 CPUs.
JobView wide_job() {
  JobView job;
  job.id = JobId{0U};
  job.gpus = 32;
  job.milli_cpus = 2'000;
  job.vc = 0;
  job.user = 7;
  job.priority = 10;
  return job;
}

}  // namespace

TEST_CASE("fair tree, S7: accounts that tie aren't merged; the first user of the second has the rank given last") {
  // Root 4.5 % of the usage, c 26 % and d 51 % of it with a share each; a and b have no shares, so that both have level
  // 0. Ranks 10 to 4 go down the levels. Then uucp gets 3, and as b ties with a, games and man tie with each other: 3,
  // too.
  const std::vector<FairTreeNode> nodes = {account(-1, 0),  account(-1, 0),    account(-1, 1),  account(-1, 1),
                                           user(0, 1, 0),   user(0, 1, 0),     user(0, 1, 303), user(1, 1, 0),
                                           user(1, 1, 0),   user(2, 1, 151),   user(2, 1, 0),   user(3, 1, 0),
                                           user(3, 1, 303), user(-1, 1, 128.5)};
  const std::vector<FairTreeRank> ranks = fair_tree(nodes);
  CHECK(ranks[0].level == 0);
  CHECK(ranks[2].level == near(1.0 / 3 / (151 / 885.5)));  // 1.955
  CHECK(ranks[3].level == near(1.0 / 3 / (303 / 885.5)));  // 0.974
  CHECK(ranks[13].level == near(1.0 / 3 / (128.5 / 885.5)));
  const std::vector<double> factors = {0.5, 0.5, 0.3, 0.3, 0.3, 0.8, 0.9, 0.7, 0.6, 1.0};
  for (std::size_t u = 0; u < factors.size(); ++u) CHECK(ranks[4 + u].factor == factors[u]);
  CHECK(ranks[4].level == kNever);
}

TEST_CASE("fair tree, S8: without ties") {
  // phys 60 shares and 70 of 100 used, chem 40 and 30. In phys ann has 1 of 4 shares and used 50 of 70, ben 3 and 20.
  const std::vector<FairTreeNode> nodes = {account(-1, 60), account(-1, 40), user(0, 1, 50),
                                           user(0, 3, 20),  user(1, 1, 30),  user(1, 1, 0)};
  const std::vector<FairTreeRank> ranks = fair_tree(nodes);
  CHECK(ranks[0].level == near(0.6 / 0.7));
  CHECK(ranks[1].level == near(0.4 / 0.3));
  CHECK(ranks[2].factor == 0.25);
  CHECK(ranks[3].factor == 0.5);
  CHECK(ranks[4].factor == 0.75);
  CHECK(ranks[5].factor == 1);
}

TEST_CASE("fair tree: the uppermost level decides, and users go before accounts at a tie") {
  // Below the root: an account of two levels that used less than its share, and a user that used more.
  const std::vector<FairTreeNode> deep = {account(-1, 1), account(0, 1), user(1, 1, 20), user(0, 9, 10),
                                          user(-1, 1, 70)};
  const std::vector<FairTreeRank> ranks = fair_tree(deep);
  CHECK(ranks[3].factor == 1);  // 0.9 of the shares of the account and a third of its usage
  CHECK(ranks[2].factor == near(2.0 / 3));
  CHECK(ranks[4].factor == near(1.0 / 3));
  const std::vector<FairTreeRank> unused = fair_tree(std::vector{account(-1, 1), user(0, 1, 0), user(-1, 1, 0)});
  CHECK(unused[2].factor == 1);
  CHECK(unused[1].factor == 1);  // tied with the user in front of its account
}

TEST_CASE("multifactor priority, S12: each factor by its weight, rounded down") {
  // Ten users below the root. The user of the job, number 7, has used an hour, two have used more, seven nothing, which
  // share the first rank: its rank is 3 of 10. It has waited 84 h of 7 days, has 8 of 64 servers and 64 of 6,144 CPUs,
  // a partition factor of 3 of 10 and a priority of 10 of 100: 500 + 3000 + 33.854 + 600 + 300.
  AccountTree tree;
  tree.accounts = {{.job_factor = 3}, {.job_factor = 10}};
  for (std::int32_t u = 0; u < 10; ++u) tree.users.push_back({.account = 0, .user = u});
  tree.largest_priority = 100;
  const SixtyFourServers cluster;
  const auto priority_of = [&](std::vector<std::pair<std::string, ParameterValue>> given) {
    MultifactorPriority priority{slurm_parameters(given), tree};
    priority.begin(cluster);
    for (std::int32_t u = 7; u < 10; ++u) {
      JobView used = wide_job();
      used.id = JobId{static_cast<std::uint32_t>(u)};
      used.user = u;
      priority.starts(used, Time{});
    }
    for (std::int32_t u = 7; u < 10; ++u) {
      JobView used = wide_job();
      used.id = JobId{static_cast<std::uint32_t>(u)};
      priority.advance(Time::seconds(3600 * (u - 6)));
      priority.ends(used, Time::seconds(3600 * (u - 6)));
    }
    const Time now = Time::seconds(84 * 3600);
    priority.advance(now);
    return priority.of(wide_job(), cluster, now);
  };
  CHECK(priority_of({{"weight_age", 1000.0},
                     {"weight_fairshare", 10000.0},
                     {"weight_job_size", 500.0},
                     {"weight_partition", 2000.0},
                     {"weight_qos", 3000.0}}) == 4433);
  CHECK(priority_of({{"weight_fairshare", 10000.0}}) == 3000);
  // Small jobs first: (56 of 64 servers + 6,080 of 6,144 CPUs) / 2 = 0.93229; by time 8 x 96 of 6,144 CPUs = 0.125.
  CHECK(priority_of({{"weight_job_size", 10000.0}, {"favor_small", true}}) == 9322);
  CHECK(priority_of({{"weight_job_size", 10000.0}, {"small_relative_to_time", true}}) == 1250);
  // 32 of 256 GPUs, 64 of 6,144 CPUs.
  CHECK(priority_of({{"weight_gpu", 800.0}, {"weight_cpu", 9600.0}}) == 200);
  CHECK(priority_of({}) == 1);
}

TEST_CASE("multifactor priority: usage decays, and factors change once in a period") {
  // User 0 has 32 GPUs in [0, 300) s, user 1 33 GPUs in [0, 150) s and as many again a half-life, 3,000 s, later. With
  // a decay of 1 - 0.693 / 3000 each second, user 1 has used more then, and at first less.
  AccountTree tree;
  tree.users = {{.user = 0}, {.user = 1}};
  MultifactorPriority priority{slurm_parameters({{"weight_fairshare", 100.0}, {"half_life_s", 3000.0}}), tree};
  JobView first = wide_job(), second = wide_job();
  first.user = 0;
  second.id = JobId{1U};
  second.user = 1;
  second.gpus = 33;
  const auto leads = [&] { return priority.fair_share_of(first) > priority.fair_share_of(second); };
  priority.starts(first, Time{});
  priority.starts(second, Time{});
  priority.ends(second, Time::seconds(150));
  CHECK(priority.fair_share_of(first) == 1);  // nothing has been counted yet: a tie
  CHECK(priority.fair_share_of(second) == 1);
  CHECK_FALSE(priority.advance(Time::seconds(299)));
  CHECK(priority.advance(Time::seconds(300)));
  priority.ends(first, Time::seconds(300));
  CHECK_FALSE(leads());
  priority.advance(Time::seconds(3000));
  CHECK_FALSE(leads());
  priority.starts(second, Time::seconds(3000));
  priority.ends(second, Time::seconds(3150));
  CHECK_FALSE(leads());
  CHECK(priority.advance(Time::seconds(3300)));
  CHECK(leads());
}

TEST_CASE("multifactor priority: a parameter that has no effect is refused") {
  const auto refusal = [](std::vector<std::pair<std::string, ParameterValue>> given) -> std::string {
    try {
      const MultifactorPriority priority{slurm_parameters(given), {}};
      return {};
    } catch (const InputError& error) {
      return error.complaints().front().key + " " + error.complaints().front().reason;
    }
  };
  CHECK(refusal({}) == "");
  CHECK(refusal({{"weight_age", 1.0}, {"max_age_s", 60.0}}) == "");
  CHECK(refusal({{"max_age_s", 60.0}}) == "policies.scheduling.max_age_s changes nothing with weight_age: 0");
  CHECK(refusal({{"favor_small", true}}) == "policies.scheduling.favor_small changes nothing with weight_job_size: 0");
  CHECK(refusal({{"calc_period_s", 60.0}}) == "policies.scheduling.calc_period_s changes nothing if all weights are 0");
}

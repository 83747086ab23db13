#include "policies/scheduling/multifactor.hpp"

#include "policies/scheduling/fair_tree.hpp"
#include "sim/error.hpp"
#include "sim/portable_math.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr double kUncounted = 1e15;  // more CPUs or bytes than any server has

/// A parameter that counts only beside a weight.
struct NeedsWeight {
  std::string_view parameter, weight;
};
constexpr NeedsWeight kNeeds[] = {{"max_age_s", "weight_age"},
                                  {"half_life_s", "weight_fairshare"},
                                  {"favor_small", "weight_job_size"},
                                  {"small_relative_to_time", "weight_job_size"}};

void check_effects(const Parameters& parameters, bool counts) {
  const auto is_usual = [&](std::string_view name) {
    const auto info = std::ranges::find(kMultifactorParameters, name, &ParameterInfo::name);
    const auto given = std::ranges::find(parameters.values(), name, [](const auto& each) { return each.first; });
    return given->second == ParameterValue{info->default_value};
  };
  for (const auto& [parameter, weight] : kNeeds)
    if (!is_usual(parameter) && parameters.get<double>(weight) == 0)
      throw InputError{Complaint{.key = fmt::format("policies.scheduling.{}", parameter),
                                 .reason = fmt::format("changes nothing with {}: 0", weight),
                                 .hint = fmt::format("give {} a value above 0, such as 1000", weight)}};
  if (!is_usual("calc_period_s") && !counts)
    throw InputError{Complaint{.key = "policies.scheduling.calc_period_s",
                               .reason = "changes nothing if all weights are 0",
                               .hint = "give one of them a value above 0, such as weight_age: 1000"}};
}

}  // namespace

MultifactorPriority::MultifactorPriority(const Parameters& parameters, AccountTree tree)
    : weights_{parameters.get<double>("weight_age"),      parameters.get<double>("weight_fairshare"),
               parameters.get<double>("weight_job_size"), parameters.get<double>("weight_partition"),
               parameters.get<double>("weight_qos"),      parameters.get<double>("weight_gpu"),
               parameters.get<double>("weight_cpu"),      parameters.get<double>("weight_memory")},
      max_age_{Time::ceil_nanoseconds(parameters.get<double>("max_age_s") * 1e9)},
      period_{Time::ceil_nanoseconds(parameters.get<double>("calc_period_s") * 1e9)},
      // A second leaves 1 - 0.693 / half-life, so that a half-life leaves 0.50007 (decay_factor in the plugin).
      decay_log_{portable_log(1 - 0.693 / parameters.get<double>("half_life_s"))},
      favors_small_{parameters.get<bool>("favor_small")},
      relative_to_time_{parameters.get<bool>("small_relative_to_time")},
      tree_{std::move(tree)} {
  const auto& [age, fair_share, size, partition, qos, gpu, cpu, memory] = weights_;
  counts_ = age + fair_share + size + partition + qos + gpu + cpu + memory > 0;
  check_effects(parameters, counts_);
  for (const Account& account : tree_.accounts) largest_job_factor_ = std::max(largest_job_factor_, account.job_factor);
  for (std::size_t u = 0; u < tree_.users.size(); ++u)
    users_.try_emplace({tree_.users[u].account, tree_.users[u].user}, u);
  usage_.resize(tree_.users.size());
  rank();
}

void MultifactorPriority::begin(const ClusterView& cluster) {
  for (std::uint32_t s = 0; s < cluster.servers(); ++s) {
    Resources here{.servers = 1};
    for (std::size_t t = 0; t < cluster.types(); ++t)
      if (cluster.servers_of_type(static_cast<std::int32_t>(t)).contains(ServerId{s}))
        here.gpus = cluster.gpus_per_server(static_cast<std::int32_t>(t));
    here.milli_cpus = static_cast<double>(cluster.free_milli_cpus(ServerId{s}));
    here.memory = static_cast<double>(cluster.free_host_memory(ServerId{s}).count());
    if (here.milli_cpus >= kUncounted) here.milli_cpus = 0;
    if (here.memory >= kUncounted) here.memory = 0;
    servers_.push_back(here);
  }
}

const Account* MultifactorPriority::account_of(const JobView& job) const {
  const bool has_one = job.vc >= 0 && static_cast<std::size_t>(job.vc) < tree_.accounts.size();
  return has_one ? &tree_.accounts[static_cast<std::size_t>(job.vc)] : nullptr;
}

std::size_t MultifactorPriority::user_of(const JobView& job) const {
  return users_.at({account_of(job) != nullptr ? job.vc : -1, job.user});
}

void MultifactorPriority::queues(const JobView& job) {
  if (!counts_usage()) return;
  const std::int32_t account = account_of(job) != nullptr ? job.vc : -1;
  if (!users_.try_emplace({account, job.user}, tree_.users.size()).second) return;
  tree_.users.push_back({.account = account, .user = job.user});
  usage_.push_back(0);
  rank();
}

const MultifactorPriority::Resources& MultifactorPriority::resources_of(const ServerRange& servers) const {
  const auto [at, is_new] = ranges_.try_emplace({servers.first, servers.last});
  Resources& sum = at->second;
  if (!is_new) return sum;
  for (std::size_t s = servers.first; s < servers.last; ++s) {
    sum.servers += 1;
    sum.gpus += servers_[s].gpus;
    sum.milli_cpus += servers_[s].milli_cpus;
    sum.memory += servers_[s].memory;
  }
  return sum;
}

double MultifactorPriority::kept_after(Time time) const {
  return portable_exp(decay_log_ * time.to_seconds());
}

void MultifactorPriority::use(const JobView& job, Time from, Time to) {
  if (from >= to) return;
  // The plugin lets what a job used in the period decay as if it had been used at its beginning (run_decay).
  usage_[user_of(job)] += job.gpus * (to - from).to_seconds() * kept_after(to - from);
}

void MultifactorPriority::rank() {
  factors_.assign(usage_.size(), 0);
  if (!counts_usage()) return;
  std::vector<FairTreeNode> nodes;
  for (const Account& account : tree_.accounts)
    nodes.push_back({.parent = account.parent, .shares = account.weight.value_or(1)});
  const std::size_t accounts = nodes.size();
  for (std::size_t u = 0; u < usage_.size(); ++u)
    nodes.push_back(
        {.parent = tree_.users[u].account, .is_user = true, .shares = tree_.users[u].weight, .usage = usage_[u]});
  const std::vector<FairTreeRank> ranks = fair_tree(nodes);
  for (std::size_t u = 0; u < usage_.size(); ++u) factors_[u] = ranks[accounts + u].factor;
}

bool MultifactorPriority::advance(Time now) {
  if (!counts_ || now < last_ + period_) return false;
  if (!counts_usage()) {
    last_ = period_ * (now.ns() / period_.ns());
    return true;
  }
  const double kept = kept_after(period_);
  for (; now >= last_ + period_; last_ += period_) {
    for (double& usage : usage_) usage *= kept;
    for (const auto& [id, each] : running_) use(each.job, std::max(each.start, last_), last_ + period_);
  }
  rank();
  return true;
}

void MultifactorPriority::starts(const JobView& job, Time now) {
  if (counts_usage()) running_[job.id] = {job, now};
}

void MultifactorPriority::ends(const JobView& job, Time now) {
  const auto at = running_.find(job.id);
  if (at == running_.end()) return;
  use(job, std::max(at->second.start, last_), now);
  running_.erase(at);
}

double MultifactorPriority::fair_share_of(const JobView& job) const {
  return counts_usage() ? factors_[user_of(job)] : 0;
}

double MultifactorPriority::size_factor(const JobView& job, const ClusterView& cluster) const {
  const Resources& all = resources_of({0, static_cast<std::uint32_t>(servers_.size())});
  // Where CPUs aren't counted, GPUs stand for them.
  const bool has_cpus = all.milli_cpus > 0;
  const double cpus = has_cpus ? all.milli_cpus / 1000 : all.gpus;
  const double own = has_cpus ? job.gpus * (job.milli_cpus / 1000.0) : job.gpus;
  const int per_server = cluster.gpus_per_server(job.server_type);
  const double servers = (job.gpus + per_server - 1) / per_server;
  const auto all_servers = static_cast<double>(all.servers);
  double factor = 0;
  if (relative_to_time_) {
    factor = std::max(servers * cpus / all_servers, own) / cpus;
    if (job.limit) factor /= std::max(job.limit->to_seconds() / 60, 1.0);
    if (favors_small_) factor = 1 - factor;
  } else if (favors_small_) {
    factor = ((all_servers - servers) / all_servers + (cpus - own) / cpus) / 2;
  } else {
    factor = (servers / all_servers + own / cpus) / 2;
  }
  return std::clamp(factor, 0.0, 1.0);
}

double MultifactorPriority::tres(const JobView& job, const ClusterView& cluster) const {
  const Resources& all = resources_of(cluster.servers_for(job));
  double sum = weights_.gpu * job.gpus / all.gpus;
  if (all.milli_cpus > 0) sum += weights_.cpu * job.gpus * job.milli_cpus / all.milli_cpus;
  if (all.memory > 0) sum += weights_.memory * job.gpus * static_cast<double>(job.host_memory.count()) / all.memory;
  return sum;
}

std::int64_t MultifactorPriority::of(const JobView& job, const ClusterView& cluster, Time now) const {
  double sum = 0;
  if (weights_.age > 0) sum += weights_.age * std::min(1.0, (now - job.submit).to_seconds() / max_age_.to_seconds());
  sum += weights_.fair_share * fair_share_of(job);
  if (weights_.size > 0) sum += weights_.size * size_factor(job, cluster);
  if (weights_.partition > 0) {
    const Account* const account = account_of(job);
    sum += weights_.partition * (account != nullptr ? account->job_factor : 1) / largest_job_factor_;
  }
  if (weights_.qos > 0 && tree_.largest_priority > 0)
    sum += weights_.qos * std::max(job.priority, 0) / tree_.largest_priority;
  if (weights_.gpu + weights_.cpu + weights_.memory > 0) sum += tres(job, cluster);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(sum)));
}

}  // namespace contend

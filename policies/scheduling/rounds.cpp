#include "policies/scheduling/rounds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

namespace contend {

namespace {

constexpr double kWithoutTime = 1e9;  // priority of a job that has received no time, for a whole share
constexpr double kShareDigits = 1e9;  // shares are rounded to this part of one before they decide anything

double rounded_share(double share) {
  return std::round(share * kShareDigits) / kShareDigits;
}

}  // namespace

RoundPolicy::RoundPolicy(const Parameters& parameters)
    : round_{Time::ceil_nanoseconds(parameters.get<double>("round_s") * 1e9)},
      reallocate_after_{Time::ceil_nanoseconds(parameters.get<double>("reallocate_s") * 1e9)},
      fills_{parameters.get<bool>("fill")} {}

void RoundPolicy::queued(const JobView& view) {
  const auto known = ties_.find(view.id);
  if (known == ties_.end()) has_changed_ = true;
  Job job;
  if (known != ties_.end()) {
    const auto at = jobs_.find({known->second, view.id});
    job = std::move(at->second);
    jobs_.erase(at);
  }
  job.view = view;
  job.type = -1;
  ties_[view.id] = view.tie;
  jobs_.emplace(std::pair{view.tie, view.id}, std::move(job));
}

void RoundPolicy::left(JobId id) {
  const auto known = ties_.find(id);
  if (known == ties_.end()) return;
  jobs_.erase({known->second, id});
  ties_.erase(known);
  has_changed_ = true;
}

void RoundPolicy::count_time(Time now) {
  const double elapsed_s = (now - counted_until_).to_seconds();
  counted_until_ = now;
  for (auto& [key, job] : jobs_)
    if (job.type >= 0 && job.has_share) job.received[static_cast<std::size_t>(job.type)] += elapsed_s;
}

TypedCluster RoundPolicy::typed(const ClusterView& cluster, Time now) {
  TypedCluster typed;
  const auto types = static_cast<std::int32_t>(cluster.types());
  for (std::int32_t t = 0; t < types; ++t) {
    typed.capacity.push_back(static_cast<double>(cluster.gpus_on(cluster.servers_of_type(t))));
    typed.prices.push_back(cluster.price_of(t));
  }
  if (std::any_of(typed.prices.begin(), typed.prices.end(), [](double price) { return price <= 0; }))
    typed.prices.clear();
  for (auto& [key, job] : jobs_) {
    const JobView view = cluster.job(key.second);
    if (job.rates.empty())
      for (std::int32_t t = 0; t < types; ++t) job.rates.push_back(cluster.speed_on(view, t));
    double left_s = view.remaining_service.to_seconds() / view.gpus;
    if (!view.timed && view.server_type >= 0) left_s *= job.rates[static_cast<std::size_t>(view.server_type)];
    if (job.isolated_rate > 0) job.isolated_s += std::max(0.0, job.left_s - left_s) / job.isolated_rate;
    job.left_s = left_s;
    TypedJob made;
    made.gpus = view.gpus;
    made.rates = job.rates;
    made.left = std::max(left_s, 1e-9);
    made.age = (now - view.submit).to_seconds();
    made.isolated = job.isolated_s;
    made.vc = view.vc;
    made.user = view.user;
    if (view.deadline) made.time_left = (*view.deadline - now).to_seconds();
    typed.jobs.push_back(std::move(made));
  }
  const std::vector<double> isolated = equal_share_rates(typed);
  std::size_t i = 0;
  for (auto& [key, job] : jobs_) job.isolated_rate = isolated[i++];
  return typed;
}

void RoundPolicy::reallocate(const ClusterView& cluster, Time now) {
  const std::size_t types = cluster.types();
  const double elapsed_s = divided_at_ == Time::never() ? 0 : (now - divided_at_).to_seconds();
  for (auto& [key, job] : jobs_) {
    if (job.has_share)
      for (std::size_t t = 0; t < types; ++t) job.deficit[t] += job.shares[t] * elapsed_s - job.received[t];
    job.deficit.resize(types);
    job.received.assign(types, round_.to_seconds() / 2);
    job.has_share = true;
  }
  const TimeShares shares = divide(typed(cluster, now), cluster);
  std::size_t i = 0;
  for (auto& [key, job] : jobs_) {
    job.shares.assign(types, 0);
    for (std::size_t t = 0; t < types; ++t) job.shares[t] = rounded_share(shares.x[i * types + t]);
    ++i;
  }
  divided_at_ = now;
  has_changed_ = false;
}

std::vector<std::pair<JobId, std::int32_t>> RoundPolicy::choose(const ClusterView& cluster) {
  struct Entry {
    double priority, deficit, share;
    Job* job;
  };
  std::vector<std::pair<JobId, std::int32_t>> chosen;
  for (auto& [key, job] : jobs_) job.is_taken = false;
  std::vector<Entry> order;
  std::vector<std::vector<Job*>> lines;  // by type, in its order
  std::vector<std::int64_t> rooms(cluster.types());
  for (std::size_t t = 0; t < cluster.types(); ++t) {
    const auto type = static_cast<std::int32_t>(t);
    std::int64_t& room = rooms[t];
    room = cluster.gpus_on(cluster.servers_of_type(type));
    double all = 0;
    for (const auto& [key, job] : jobs_)
      if (job.has_share) all += job.received[t];
    order.clear();
    for (auto& [key, job] : jobs_) {
      if (!job.has_share || job.shares[t] <= 0 || job.rates[t] <= 0) continue;
      const double priority =
          job.received[t] > 0 ? job.shares[t] / (job.received[t] / all) : kWithoutTime * job.shares[t];
      order.push_back({priority, job.deficit[t], job.shares[t], &job});
    }
    std::stable_sort(order.begin(), order.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.priority, a.deficit, a.share) > std::tie(b.priority, b.deficit, b.share);
    });
    for (const Entry& entry : order) {
      if (entry.job->is_taken || entry.job->view.gpus > room) continue;
      entry.job->is_taken = true;
      room -= entry.job->view.gpus;
      chosen.emplace_back(entry.job->view.id, type);
    }
    auto& line = lines.emplace_back();
    for (const Entry& entry : order) line.push_back(entry.job);
  }
  // What is left over stays with those who run there.
  for (auto& [key, job] : jobs_) {
    if (!fills_ || job.is_taken || job.type < 0) continue;
    std::int64_t& room = rooms[static_cast<std::size_t>(job.type)];
    if (job.view.gpus > room) continue;
    job.is_taken = true;
    room -= job.view.gpus;
    chosen.emplace_back(key.second, job.type);
  }
  for (auto& [key, job] : jobs_) job.place = {};
  for (std::size_t t = 0; t < lines.size(); ++t) {
    int place = 0;
    for (Job* const job : lines[t]) {
      if (job->is_taken) continue;
      ++place;
      if (job->place.place == 0 || place < job->place.place)
        job->place = {lines.size() > 1 ? static_cast<std::int32_t>(t) : -1, place};
    }
  }
  return chosen;
}

void RoundPolicy::start_round(const ClusterView& cluster, SchedulingActions& actions) {
  const std::vector<std::pair<JobId, std::int32_t>> chosen = choose(cluster);
  std::map<JobId, std::int32_t> wanted{chosen.begin(), chosen.end()};
  std::vector<JobId> leaving;
  std::vector<std::tuple<int, std::int64_t, JobId, std::int32_t>> starting;
  for (const auto& [key, job] : jobs_) {
    const auto at = wanted.find(key.second);
    const std::int32_t type = at == wanted.end() ? -1 : at->second;
    if (job.type >= 0 && job.type != type) leaving.push_back(key.second);
    if (type >= 0 && job.type != type) starting.emplace_back(-job.view.gpus, key.first, key.second, type);
  }
  for (const JobId id : leaving) actions.preempt(id);
  std::sort(starting.begin(), starting.end());
  for (const auto& [gpus, tie, id, type] : starting)
    if (actions.start_on(id, type)) jobs_.at({tie, id}).type = type;
}

void RoundPolicy::fill(const ClusterView& cluster, SchedulingActions& actions) {
  std::vector<JobId> waiting;
  for (const auto& [key, job] : jobs_)
    if (job.type < 0 && job.view.gpus <= cluster.free_gpus()) waiting.push_back(key.second);
  for (const JobId id : waiting)
    if (actions.start(id)) jobs_.at({ties_.at(id), id}).type = std::max(0, cluster.job(id).server_type);
}

void RoundPolicy::pass(const ClusterView& cluster, SchedulingActions& actions) {
  const Time now = cluster.now();
  if (jobs_.empty()) {
    next_round_ = now;
    counted_until_ = now;
    return;
  }
  count_time(now);
  if (now >= next_round_) {
    const bool is_due = divided_at_ == Time::never() || now - divided_at_ >= reallocate_after_;
    if (has_changed_ && is_due) reallocate(cluster, now);
    start_round(cluster, actions);
    next_round_ = now + round_;
  }
  if (fills_) fill(cluster, actions);
  if (!actions.recording()) return;
  for (const auto& [key, job] : jobs_) {
    if (job.type >= 0) continue;
    actions.blocked(key.second, job.is_taken ? Why::no_place : Why::throttled);
    if (!job.is_taken && job.place.place > 0) actions.in_line(key.second, job.place);
  }
}

Time RoundPolicy::next_decision(const ClusterView&) {
  return jobs_.empty() ? Time::never() : next_round_;
}

}  // namespace contend

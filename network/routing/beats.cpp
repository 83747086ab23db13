#include "network/routing/beats.hpp"

#include "network/routing/cassini.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>

namespace contend {

namespace {

constexpr double kRounding_ns = 1e-3;  // of a period
constexpr double kRounding = 1e-9;     // of demands
constexpr std::int64_t kTurns = 60;    // of a job in the unified circle, at most
constexpr std::int64_t kParts = 10;    // of an iteration in a common unit, at most
constexpr double kSlower = 1.1;        // periods by what they need to be, at most
constexpr std::ptrdiff_t kWays = 8;    // of rounding, which are tried

/// A link that jobs share, and what each of them demands while it sends, in bytes per second.
struct SharedLink {
  double capacity = 0;
  std::vector<double> rates;
  [[nodiscard]] double load() const { return std::accumulate(rates.begin(), rates.end(), 0.0) / capacity; }
};
using SharedLinks = std::map<std::vector<std::size_t>, SharedLink>;  // by the jobs, ascending

SharedLinks crowded_links(std::span<const SendingJob> jobs, const std::function<double(LinkId)>& rate) {
  std::map<LinkId, std::pair<std::vector<std::size_t>, SharedLink>> on_link;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (jobs[j].communication <= Time{}) continue;
    for (const auto& [link, bytes] : jobs[j].bytes) {
      auto& [users, shared] = on_link[link];
      users.push_back(j);
      shared.rates.push_back(bytes / jobs[j].communication.to_seconds());
    }
  }
  SharedLinks crowded;
  for (auto& [link, entry] : on_link) {
    auto& [users, shared] = entry;
    shared.capacity = rate(link);
    if (users.size() < 2 || shared.load() <= 1 + kRounding) continue;
    const auto [known, is_new] = crowded.try_emplace(users, shared);
    if (!is_new && shared.load() > known->second.load()) known->second = shared;
  }
  std::erase_if(crowded, [&](const auto& each) {
    return std::ranges::any_of(crowded, [&](const auto& other) {
      return other.first.size() > each.first.size() && std::ranges::includes(other.first, each.first);
    });
  });
  return crowded;
}

/// The first job of its connected part, by job.
std::vector<std::size_t> parts_of(std::size_t jobs, const SharedLinks& links) {
  std::vector<std::size_t> part(jobs);
  std::iota(part.begin(), part.end(), std::size_t{0});
  for (const auto& [users, link] : links) {
    for (const std::size_t user : users) {
      const std::size_t from = std::max(part[user], part[users.front()]);
      std::ranges::replace(part, from, std::min(part[user], part[users.front()]));
    }
  }
  return part;
}

/// Ways to round the iterations up to a common unit in which no job has too many turns: those first that make no job
/// much slower.
std::vector<std::vector<Time>> common_periods(const std::vector<Time>& iterations) {
  std::int64_t exact = 0;
  for (const Time each : iterations) exact = std::gcd(exact, each.ns());
  std::vector<std::int64_t> units{exact};
  for (const Time each : iterations)
    for (std::int64_t parts = 1; parts <= kParts; ++parts) units.push_back((each.ns() + parts - 1) / parts);
  std::vector<std::pair<double, std::vector<Time>>> ways;  // with the factor by which the slowest job is slower
  for (const std::int64_t unit : units) {
    std::vector<Time> periods;
    double slower = 1;
    std::int64_t circle = 1, fewest = INT64_MAX;  // in units
    for (const Time each : iterations) {
      const std::int64_t count = (each.ns() + unit - 1) / unit;
      periods.push_back(Time::nanoseconds(count * unit));
      slower = std::max(slower, periods.back().to_seconds() / each.to_seconds());
      fewest = std::min(fewest, count);
      const std::int64_t turns = count / std::gcd(circle, count);
      circle = circle > INT64_MAX / turns ? INT64_MAX : circle * turns;
    }
    if (circle / fewest <= kTurns && slower <= kSlower) ways.emplace_back(slower, std::move(periods));
  }
  std::ranges::stable_sort(ways, {}, &std::pair<double, std::vector<Time>>::first);
  std::vector<std::vector<Time>> all;
  for (auto& [slower, periods] : ways)
    if (std::ssize(all) < kWays && std::ranges::find(all, periods) == all.end()) all.push_back(std::move(periods));
  return all;
}

/// A connected part of the jobs and links, whose beats are planned together.
struct Part {
  std::vector<std::size_t> jobs;                                         // ascending
  std::vector<std::pair<std::vector<std::size_t>, SharedLink>> links{};  // by the places of jobs in `jobs`
};

/// The iterations, longer if what some link carries takes more than they.
std::vector<Time> needed_periods(const Part& part, std::span<const SendingJob> jobs) {
  double stretch = 1;
  for (const auto& [users, link] : part.links) {
    double busy = 0;
    for (std::size_t u = 0; u < users.size(); ++u) {
      const SendingJob& job = jobs[part.jobs[users[u]]];
      busy += link.rates[u] * job.communication.to_seconds() / job.iteration.to_seconds();
    }
    stretch = std::max(stretch, busy / link.capacity);
  }
  std::vector<Time> periods;
  for (const std::size_t job : part.jobs) {
    const Time iteration = jobs[job].iteration;
    periods.push_back(stretch > 1 + kRounding
                          ? Time::ceil_nanoseconds(static_cast<double>(iteration.ns()) * stretch - kRounding_ns)
                          : iteration);
  }
  return periods;
}

/// The shifts of the part's jobs with these periods; empty if there are none worth it.
std::vector<Time> shifts_of(const Part& part, std::span<const SendingJob> jobs, const std::vector<Time>& periods) {
  std::vector<AffinityEdge> edges;
  std::vector<std::vector<LinkDemand>> demands;
  for (const auto& [users, link] : part.links) {
    std::vector<LinkDemand>& of_link = demands.emplace_back();
    for (std::size_t u = 0; u < users.size(); ++u) {
      const SendingJob& job = jobs[part.jobs[users[u]]];
      of_link.push_back({periods[users[u]], {{job.iteration - job.communication, job.iteration, link.rates[u]}}});
    }
    const LinkShifts best = best_shifts(of_link, link.capacity);
    for (std::size_t u = 0; u < users.size(); ++u) edges.push_back({users[u], demands.size() - 1, best.shifts[u]});
  }
  const auto shifts = affinity_shifts(periods, demands.size(), edges);
  if (!shifts) return {};
  double gain = 0;
  for (std::size_t l = 0; l < demands.size(); ++l) {
    const auto& [users, link] = part.links[l];
    std::vector<Time> of_link;
    for (const std::size_t user : users) of_link.push_back((*shifts)[user]);
    const double score = link_score(demands[l], link.capacity, of_link);
    if (score < kBeatScore) return {};
    gain += score - link_score(demands[l], link.capacity, std::vector<Time>(of_link.size()));
  }
  return gain > kRounding ? *shifts : std::vector<Time>{};
}

}  // namespace

std::vector<std::optional<Beat>> plan_beats(std::span<const SendingJob> jobs,
                                            const std::function<double(LinkId)>& rate) {
  std::vector<std::optional<Beat>> beats(jobs.size());
  const SharedLinks links = crowded_links(jobs, rate);
  const std::vector<std::size_t> part_of = parts_of(jobs.size(), links);
  for (std::size_t first = 0; first < jobs.size(); ++first) {
    Part part;
    for (std::size_t j = first; j < jobs.size(); ++j)
      if (part_of[j] == first) part.jobs.push_back(j);
    if (part.jobs.size() < 2) continue;
    for (const auto& [users, link] : links) {
      if (part_of[users.front()] != first) continue;
      auto& [places, shared] = part.links.emplace_back();
      shared = link;
      for (const std::size_t user : users)
        places.push_back(static_cast<std::size_t>(std::ranges::lower_bound(part.jobs, user) - part.jobs.begin()));
    }
    for (const std::vector<Time>& periods : common_periods(needed_periods(part, jobs))) {
      const std::vector<Time> shifts = shifts_of(part, jobs, periods);
      if (shifts.empty()) continue;
      for (std::size_t m = 0; m < part.jobs.size(); ++m) beats[part.jobs[m]] = Beat{periods[m], shifts[m]};
      break;
    }
  }
  return beats;
}

Time wait_for(const Beat& beat, Time now) {
  const std::int64_t period = beat.period.ns();
  const std::int64_t late = (((now - beat.shift).ns() % period) + period) % period;
  if (static_cast<double>(late) <= kBeatTolerance * static_cast<double>(period)) return Time{};
  return Time::nanoseconds(period - late);
}

}  // namespace contend

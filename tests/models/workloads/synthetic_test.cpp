#include "models/workloads/synthetic.hpp"

#include "sim/error.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

std::vector<JobRequest> draw(const char* like, std::int64_t jobs, std::uint64_t seed = 1) {
  SyntheticWorkload options;
  options.like = find_fitted_workload(like);
  REQUIRE(options.like != nullptr);
  options.jobs = jobs;
  return generate_like(options, 1, seed);
}

/// Sums of `count` independent replicas, so that one long batch doesn't decide.
template <class Each>
void for_replicas(const char* like, int count, Each each) {
  for (int seed = 1; seed <= count; ++seed) {
    for (const JobRequest& job : draw(like, 20'000, static_cast<std::uint64_t>(seed))) each(job);
  }
}

/// Mean and mean square of the number of jobs in a batch, term by term.
std::pair<double, double> batch_moments(const SizeClass& sizes) {
  double weight = 0, first = 0, second = 0;
  for (std::int64_t k = 1; k <= sizes.longest - sizes.shortest + 1; ++k) {
    const auto jobs = static_cast<double>(sizes.shortest - 1 + k);
    const double w = std::pow(static_cast<double>(k), -sizes.exponent);
    weight += w;
    first += w * jobs;
    second += w * jobs * jobs;
  }
  if (sizes.longest == 1) return {1, 1};
  const double several = 1 - sizes.single;
  return {sizes.single + several * first / weight, sizes.single + several * second / weight};
}

/// What is expected of the jobs of one size: their share, how many times the variance of such a share is that of
/// independent jobs, the share of those completed, and the jobs that each class brings.
struct SizeShare {
  double jobs = 0, spread = 1, completed = 0;
  std::vector<std::pair<const SizeClass*, double>> classes{};
};
std::map<int, SizeShare> shares(const FittedWorkload& fit) {
  std::map<int, SizeShare> result;
  double sum = 0;
  for (std::size_t c = 0; c < fit.classes.size(); ++c) {
    const SizeClass& each = fit.classes[c];
    double batches = 0, weights = 0;
    for (const VcShare& vc : fit.vcs) batches += vc.weights[c];
    for (const SizeWeight& size : each.sizes) weights += size.weight;
    const auto [first, second] = batch_moments(each);
    for (const SizeWeight& size : each.sizes) {
      SizeShare& share = result[size.gpus];
      const double jobs = batches * first * size.weight / weights;
      share.jobs += jobs;
      share.spread = std::max(share.spread, second / first);
      share.completed += jobs * each.outcomes[0];
      share.classes.emplace_back(&each, jobs);
      sum += jobs;
    }
  }
  for (auto& [gpus, each] : result) {
    each.completed /= each.jobs;
    for (auto& part : each.classes) part.second /= each.jobs;
    each.jobs /= sum;
  }
  return result;
}

/// The share of the jobs of a class that last at most so long.
double share_within(const SizeClass& sizes, double duration) {
  double low = 0, high = 1;
  for (int step = 0; step < 50; ++step) {
    const double middle = (low + high) / 2;
    (duration_quantile(sizes, middle) <= duration ? low : high) = middle;
  }
  return low;
}

double class_weight(const FittedWorkload& fit, std::size_t c) {
  double sum = 0;
  for (const VcShare& vc : fit.vcs) sum += vc.weights[c];
  return sum;
}

}  // namespace

TEST_CASE("between two quantiles the curve goes through their geometric mean") {
  // The quantiles at 0.4 and 0.5 are 4 and 9: at 0.45 sqrt(4 x 9) = 6; at 0.425, f = 1/4 and
  // 4 + 5 x 0.25 / (0.25 + 0.75 x 1.5) = 4 + 1.25 / 1.375 = 4.90909...; at the knots the knots.
  const std::vector<SizeWeight> kSizes{{1, 1.0}};
  const SizeClass sizes{kSizes, 1, 0, 2, 1, {1, 1, 1, 1, 2, 4, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 16}, {1, 0, 0}};
  CHECK(duration_quantile(sizes, 0.45) == near(6));
  CHECK(duration_quantile(sizes, 0.425) == near(4 + 1.25 / 1.375));
  CHECK(duration_quantile(sizes, 0.4) == 4);
  CHECK(duration_quantile(sizes, 0.75) == 9);
  CHECK(duration_quantile(sizes, 0) == 1);
  CHECK(duration_quantile(sizes, 1) == 16);
}

TEST_CASE("the tables are complete: ascending quantiles, profiles of mean 1, weights for every class") {
  std::string last;
  for (const FittedWorkload* fit : fitted_workloads()) {
    INFO(fit->name);
    CHECK(std::string{fit->name} > last);
    last = fit->name;
    CHECK(!fit->source.empty());
    CHECK(fit->classes.size() <= kMaxSizeClasses);
    double hours = 0, week = 0;
    for (const double each : fit->hours) hours += each / 24;
    for (const double each : fit->week) week += each / 7;
    CHECK(hours == near(1, 5e-4));  // of four digits each
    CHECK(week == near(1, 5e-4));
    for (std::size_t c = 0; c < kMaxSizeClasses; ++c) {
      CHECK((class_weight(*fit, c) > 0) == (c < fit->classes.size()));
      if (c >= fit->classes.size()) continue;
      const SizeClass& each = fit->classes[c];
      CHECK((each.single < 1) == (each.longest > 1));
      CHECK(each.durations.front() >= 1);
      CHECK(std::is_sorted(each.durations.begin(), each.durations.end()));
      CHECK(each.outcomes[0] + each.outcomes[1] + each.outcomes[2] == near(1, 0.0015));
      CHECK(each.shortest >= 2);
      CHECK((each.longest == 1 || each.longest >= each.shortest));
      std::set<int> sizes;
      for (const SizeWeight& size : each.sizes) CHECK(sizes.insert(size.gpus).second);
    }
    CHECK(fit->jobs_per_day == near_absolute(static_cast<double>(fit->fitted_jobs) / fit->fitted_days, 0.005));
  }
}

TEST_CASE("drawn jobs have the sizes, quantiles and outcomes of their table" * doctest::skip(kSanitized)) {
  for (const FittedWorkload* fit : fitted_workloads()) {
    INFO(fit->name);
    constexpr int kReplicas = 20;
    std::map<int, std::vector<double>> durations;
    std::map<int, double> completed;
    double jobs = 0;
    for_replicas(fit->name.data(), kReplicas, [&](const JobRequest& job) {
      durations[job.gpus].push_back(job.duration->to_seconds());
      completed[job.gpus] += job.outcome == JobOutcome::completed ? 1 : 0;
      ++jobs;
    });
    const std::map<int, SizeShare> expected = shares(*fit);
    double widest = 1;  // the longest batches of any class move the shares of all
    for (const auto& [gpus, each] : expected) widest = std::max(widest, each.spread);
    for (auto& [size_of_these, drawn] : durations) {
      const int gpus = size_of_these;
      INFO("jobs of " << gpus << " GPUs");
      REQUIRE(expected.contains(gpus));
      const SizeShare& size = expected.at(gpus);
      const auto n = static_cast<double>(drawn.size());
      CHECK(std::abs(n / jobs - size.jobs) < 5 * std::sqrt(size.jobs * widest / jobs));
      const double slack = 5 * std::sqrt(0.25 * size.spread / n);
      CHECK(std::abs(completed[gpus] / n - size.completed) < slack + 0.001);
      std::sort(drawn.begin(), drawn.end());
      // Times are whole seconds, so a quantile is compared by the share of jobs around it.
      for (const auto& [sizes, weight] : size.classes) {
        for (const double p : {0.1, 0.3, 0.5, 0.7, 0.9}) {
          const double at = duration_quantile(*sizes, p);
          double within = 0;
          for (const auto& [other, share] : size.classes) within += share * share_within(*other, at);
          const auto below = std::lower_bound(drawn.begin(), drawn.end(), at - 1) - drawn.begin();
          const auto upto = std::upper_bound(drawn.begin(), drawn.end(), at + 1) - drawn.begin();
          CHECK(static_cast<double>(below) / n <= within + slack);
          CHECK(static_cast<double>(upto) / n >= within - slack);
        }
      }
    }
  }
}

TEST_CASE("there are as many jobs as asked for, also where the last batch would go on") {
  for (const FittedWorkload* fit : fitted_workloads()) {
    for (std::int64_t jobs = 1; jobs <= 100; ++jobs) {
      CHECK(draw(std::string{fit->name}.c_str(), jobs).size() == static_cast<std::size_t>(jobs));
    }
  }
}

TEST_CASE("the mean GPU time, which decides the load, is the mean of the trace" * doctest::skip(kSanitized)) {
  // Where jobs were fitted, interpolation between quantiles is the only error. Where only sums are published, the ends
  // of the distribution are cut.
  const std::map<std::string_view, double> tolerance{{"philly", 0.1},     {"itp", 0.1},     {"helios-venus", 0.25},
                                                     {"openb", 0.25},     {"helios", 0.15}, {"acme-seren", 0.15},
                                                     {"acme-kalos", 0.15}};
  for (const FittedWorkload* fit : fitted_workloads()) {
    double sum = 0, jobs = 0;
    for_replicas(fit->name.data(), 40, [&](const JobRequest& job) {
      sum += job.duration->to_seconds() * job.gpus;
      ++jobs;
    });
    MESSAGE(fit->name << ": mean GPU time drawn / fitted " << sum / jobs / fit->mean_gpu_seconds);
    CHECK(std::abs(sum / jobs / fit->mean_gpu_seconds - 1) < tolerance.at(fit->name));
  }
}

TEST_CASE("arrivals keep the rate and the cycle" * doctest::skip(kSanitized)) {
  // 40 replicas of philly, 20000 jobs each; the mean time of a replica is 20000 / 913 days.
  const FittedWorkload& fit = *find_fitted_workload("philly");
  double days = 0;
  std::vector<double> hours(24), week(7);
  constexpr int kReplicas = 40;
  for (int seed = 1; seed <= kReplicas; ++seed) {
    const auto jobs = draw("philly", 20'000, static_cast<std::uint64_t>(seed));
    CHECK(std::is_sorted(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a.submit < b.submit; }));
    days += jobs.back().submit.to_seconds() / 86400 / kReplicas;
    // Whole weeks only, or the days with which it ends would count less.
    const std::int64_t weeks = jobs.back().submit.ns() / Time::seconds(7 * 86400).ns();
    for (const JobRequest& job : jobs) {
      if (job.submit >= Time::seconds(weeks * 7 * 86400)) break;
      const auto second = static_cast<std::size_t>(job.submit.ns() / 1'000'000'000);
      ++hours[second / 3600 % 24];
      ++week[second / 86400 % 7];
    }
  }
  // The number of jobs of a day has a standard deviation of 0.6 times its mean, the number of an hour one of 1.8 times.
  // There are 876 days, 120 of each day of the week and 840 of each hour: 2%, 5% and 6%, of which three are allowed.
  CHECK(days == near(20'000 / fit.jobs_per_day, 0.06));
  double all = 0;
  for (const double each : week) all += each;
  for (std::size_t i = 0; i < 24; ++i) CHECK(hours[i] * 24 / all == near(fit.hours[i], 0.2));
  for (std::size_t i = 0; i < 7; ++i) CHECK(week[i] * 7 / all == near(fit.week[i], 0.15));
  // What is drawn is much nearer to the profile than one of equal hours or days would be.
  double off = 0, flat = 0;
  for (std::size_t i = 0; i < 24; ++i) {
    off += std::pow(hours[i] * 24 / all - fit.hours[i], 2);
    flat += std::pow(1 - fit.hours[i], 2);
  }
  CHECK(off < 0.4 * flat);
  off = flat = 0;
  for (std::size_t i = 0; i < 7; ++i) {
    off += std::pow(week[i] * 7 / all - fit.week[i], 2);
    flat += std::pow(1 - fit.week[i], 2);
  }
  CHECK(off < 0.2 * flat);
}

TEST_CASE("rate, load, durations, longest and largest have the documented effect") {
  SyntheticWorkload options;
  options.like = find_fitted_workload("helios");  // all its hours and days are alike
  options.jobs = 20'000;
  const auto base = generate_like(options, 1, 7);

  // Twice the rate: the same jobs in half the time, but for the length of the last batch.
  options.rate = 2;
  const auto twice = generate_like(options, 1, 7);
  CHECK(twice.back().submit.to_seconds() / base.back().submit.to_seconds() == near(0.5, 1e-4));
  options.rate = 1;

  // Load: GPU time that arrives over the time in which it arrives, per GPU.
  options.load = 0.8;
  const auto loaded = generate_like(options, 640, 7);
  double work = 0;
  for (const JobRequest& job : loaded) work += job.duration->to_seconds() * job.gpus;
  CHECK(work / (640 * loaded.back().submit.to_seconds()) == near(0.8, 0.001));
  options.load.reset();

  options.like = find_fitted_workload("helios-venus");
  options.durations = 3;
  options.longest = Time::seconds(5000);
  options.largest = 16;
  std::set<int> sizes;
  Time longest;
  for (const JobRequest& job : generate_like(options, 1, 7)) {
    sizes.insert(job.gpus);
    longest = std::max(longest, *job.duration);
  }
  CHECK(sizes == std::set<int>{1, 2, 3, 4, 5, 6, 8, 16});
  CHECK(longest == Time::seconds(5000));
  options.like = find_fitted_workload("itp");
  options.largest = 0;
  CHECK_THROWS_AS(static_cast<void>(generate_like(options, 1, 7)), InputError);
}

TEST_CASE("a workload that would take centuries, or a job of centuries, is refused") {
  SyntheticWorkload options;
  options.like = find_fitted_workload("philly");
  options.jobs = 100'000;
  options.rate = 0.001;
  CHECK_THROWS_WITH_AS(static_cast<void>(generate_like(options, 1, 7)), doctest::Contains("100 years"), InputError);
  options.rate = 1;
  options.durations = 1e5;
  CHECK_THROWS_WITH_AS(static_cast<void>(generate_like(options, 1, 7)), doctest::Contains("for more than 100 years"),
                       InputError);
}

TEST_CASE("the same seed gives the same jobs, another seed others; names, users and shapes") {
  const auto once = draw("openb", 3000, 5), again = draw("openb", 3000, 5), other = draw("openb", 3000, 6);
  const auto same = [](const JobRequest& a, const JobRequest& b) {
    return a.submit == b.submit && a.duration == b.duration && a.gpus == b.gpus && a.gpu_share == b.gpu_share;
  };
  CHECK(std::equal(once.begin(), once.end(), again.begin(), again.end(), same));
  CHECK_FALSE(std::equal(once.begin(), once.end(), other.begin(), other.end(), same));
  int shared = 0;
  for (std::size_t i = 0; i < once.size(); ++i) {
    CHECK(once[i].name == "job-" + std::to_string(i));
    if (once[i].gpus > 1) continue;
    CHECK(once[i].gpu_share > 0);
    CHECK(once[i].milli_cpus > 0);
    CHECK(once[i].host_memory > Bytes{});
    shared += once[i].gpu_share < 1000 ? 1 : 0;
  }
  CHECK(shared > 800);  // 41 % of the shapes in the table
  std::set<std::string> users, vcs;
  for (const JobRequest& job : draw("helios-venus", 3000)) {
    users.insert(job.user);
    vcs.insert(job.vc);
  }
  CHECK(users.size() == 12);
  CHECK(vcs == std::set<std::string>{"vcvGl", "vcvlY"});
}

TEST_CASE("the largest size of a trace within a limit, which counts as within") {
  const FittedWorkload& philly = *find_fitted_workload("philly");  // 1, 2, 4, 8, 12, 16, 24, 32, 64 and 128
  CHECK(largest_size(philly, std::nullopt) == 128);
  CHECK(largest_size(philly, 16) == 16);
  CHECK(largest_size(philly, 15) == 12);
  CHECK(largest_size(philly, 0) == 0);
}

TEST_CASE("GPUs may be held for 100 years, and no second longer") {
  const std::vector<SizeWeight> kOne{{1, 1.0}};
  const std::vector<SizeClass> kClasses{
      {kOne,
       1,
       0,
       2,
       1,
       {9e9, 9e9, 9e9, 9e9, 9e9, 9e9, 9e9, 9e9, 9e9, 9e9, 9e9, 9e9, 9e9, 9e9, 9e9, 9e9, 9e9},
       {1, 0, 0}}};
  const std::vector<VcShare> kVcs{{"", {1}}};
  FittedWorkload fit;
  fit.jobs_per_day = 24;
  fit.hours.fill(1);
  fit.week.fill(1);
  fit.classes = kClasses;
  fit.vcs = kVcs;
  SyntheticWorkload options;
  options.like = &fit;
  options.jobs = 1;
  options.durations = 2;
  options.longest = kLongestJobTime;
  CHECK(generate_like(options, 1, 1).front().duration == options.longest);
  options.longest = kLongestJobTime + Time::seconds(1);
  CHECK_THROWS_WITH_AS(static_cast<void>(generate_like(options, 1, 1)), doctest::Contains("for more than 100 years"),
                       InputError);
}

TEST_CASE("jobs that queue like their trace rank policies; others say why they don't") {
  FittedWorkload fit = *find_fitted_workload("helios");
  CHECK(ranking_caveat(fit).find("don't rank policies by jobs like `helios`: how long they queue was never compared") ==
        0);
  // A factor of 2 and a quarter are just near enough.
  const QueueingFidelity near_enough{0.5, 2, 0.75, 1.25, 0.75, 1.25};
  fit.queueing = near_enough;
  CHECK(queues_like_trace(fit.queueing));
  CHECK(ranking_caveat(fit).empty());
  const auto is_far = [&](double QueueingFidelity::*figure, double value) {
    QueueingFidelity far = near_enough;
    far.*figure = value;
    return !queues_like_trace(far);
  };
  CHECK(is_far(&QueueingFidelity::fifo_least, 0.49));
  CHECK(is_far(&QueueingFidelity::fifo_most, 2.01));
  CHECK(is_far(&QueueingFidelity::sjf_least, 0.74));
  CHECK(is_far(&QueueingFidelity::sjf_most, 1.26));
  CHECK(is_far(&QueueingFidelity::easy_least, 0.74));
  CHECK(is_far(&QueueingFidelity::easy_most, 1.26));
  fit.queueing.fifo_most = 3.21;
  CHECK(
      ranking_caveat(fit).find("from 0.6 to 0.9 they queue 0.5 to 3.2 times as long as those of the trace under FIFO, "
                               "SJF gains 0.75 to 1.2 times as much, and EASY 0.75 to 1.2 times") != std::string::npos);
  fit.queueing.fifo_most = 320;
  CHECK(ranking_caveat(fit).find("they queue 0.5 to 320 times as long") != std::string::npos);
}

TEST_CASE("spells last from day to day, and what they bring is fixed by rate and load" * doctest::skip(kSanitized)) {
  // One job a batch, all alike, so that the count of a day shows its factor: 300 days of 1000 jobs.
  const std::vector<SizeWeight> kOne{{1, 1.0}};
  const std::vector<SizeClass> kAlike{
      {kOne, 1, 0, 2, 1, {60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60}, {1, 0, 0}}};
  const std::vector<VcShare> kNone{{"", {1}}};
  FittedWorkload fit;
  fit.name = "alike";
  fit.jobs_per_day = 1000;
  fit.hours.fill(1);
  fit.week.fill(1);
  fit.classes = kAlike;
  fit.vcs = kNone;
  SyntheticWorkload options;
  options.like = &fit;
  options.jobs = 300'000;
  /// Variance and lag-1 autocorrelation of the logarithms of the counts.
  const auto figures = [&] {
    const std::vector<JobRequest> jobs = generate_like(options, 1, 3);
    CHECK(jobs.back().submit.to_seconds() == near(300 * 86'400.0, 0.005));
    std::vector<double> logs(299);
    for (const JobRequest& job : jobs) {
      const auto day = static_cast<std::size_t>(job.submit.ns() / Time::seconds(86'400).ns());
      if (day < logs.size()) ++logs[day];
    }
    double mean = 0, variance = 0, next = 0;
    for (double& each : logs) mean += (each = std::log(each)) / 299;
    for (std::size_t d = 0; d < logs.size(); ++d) {
      variance += std::pow(logs[d] - mean, 2) / 299;
      if (d > 0) next += (logs[d] - mean) * (logs[d - 1] - mean) / 298;
    }
    return std::pair{variance, next / variance};
  };
  CHECK(figures().first < 0.002);  // Poisson: 0.001
  fit.day_sigma = 0.5;
  const auto [alone, alone_next] = figures();
  CHECK(alone == near(0.25, 0.3));
  CHECK(std::abs(alone_next) < 0.2);
  fit.day_sigma = 0;
  fit.spell_sigma = 0.5;
  fit.spell_correlation = 0.8;
  const auto [spells, spells_next] = figures();
  CHECK(spells == near(0.25, 0.5));
  CHECK(spells_next == near(0.8, 0.15));
}

TEST_CASE("batches have between the shortest and the longest number of jobs of their class") {
  const std::vector<SizeWeight> kOne{{1, 1.0}};
  const std::vector<SizeClass> kLong{
      {kOne, 0, 1, 3, 5, {60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60}, {1, 0, 0}}};
  const std::vector<VcShare> kNone{{"", {1}}};
  FittedWorkload fit;
  fit.name = "long";
  fit.jobs_per_day = 4;  // so that days lie between batches
  fit.batch_gap_s = 1e-6;
  fit.hours.fill(1);
  fit.week.fill(1);
  fit.classes = kLong;
  fit.vcs = kNone;
  SyntheticWorkload options;
  options.like = &fit;
  options.jobs = 4000;
  std::map<Time, int> lengths;
  for (const JobRequest& job : generate_like(options, 1, 2)) ++lengths[job.submit];
  std::map<int, int> counts;
  for (const auto& [submit, jobs] : lengths) ++counts[jobs];
  counts.erase(counts.find(lengths.rbegin()->second));  // the last batch may be cut
  for (const auto& [jobs, batches] : counts) CHECK((jobs >= 3 && jobs <= 5 && batches > 0));
  CHECK(counts.size() >= 2);
}

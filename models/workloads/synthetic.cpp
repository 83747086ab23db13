#include "models/workloads/synthetic.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace contend {
namespace {

/// A job before it has a name.
struct Draft {
  std::size_t batch = 0;
  double after_s = 0;  // since the start of its batch
  std::int64_t submit_s = 0;
  std::int64_t duration_s = 1;
  JobOutcome outcome = JobOutcome::completed;
  int shape = -1;
};

constexpr double kLongestMean = 36'500;  // days; no drawing lasts longer

/// The properties that the jobs of a batch have in common.
struct Batch {
  std::size_t vc = 0;
  std::size_t size_class = 0;
  int gpus = 1;
  std::int64_t user = 0;
};

/// Draws the virtual cluster and the class of a batch, then its size.
class KindOfBatch {
 public:
  KindOfBatch(const FittedWorkload& fit, std::optional<int> largest) : classes_{fit.classes.size()}, kinds_{one()} {
    std::vector<double> kept(classes_, 1.0);
    for (std::size_t c = 0; c < classes_; ++c) {
      std::vector<double> weights;
      double all = 0, within = 0;
      for (const SizeWeight& size : fit.classes[c].sizes) {
        const bool fits = !largest || size.gpus <= *largest;
        weights.push_back(fits ? size.weight : 0);
        all += size.weight;
        within += weights.back();
      }
      kept[c] = within / all;
      sizes_.push_back(within > 0 ? WeightedChoice{weights} : one());
    }
    std::vector<double> kinds;
    double sum = 0;
    for (const VcShare& vc : fit.vcs) {
      for (std::size_t c = 0; c < classes_; ++c) {
        kinds.push_back(vc.weights[c] * kept[c]);
        sum += kinds.back();
      }
    }
    if (!(sum > 0))
      throw InputError{fmt::format("workload.scaling.largest: `{}` has no job of at most {} GPUs", fit.name, *largest)};
    kinds_ = WeightedChoice{kinds};
  }

  void draw(RandomStream& stream, const FittedWorkload& fit, Batch& batch) const {
    const std::size_t kind = kinds_.draw(stream);
    batch.vc = kind / classes_;
    batch.size_class = kind % classes_;
    batch.gpus = fit.classes[batch.size_class].sizes[sizes_[batch.size_class].draw(stream)].gpus;
  }

 private:
  static WeightedChoice one() {
    constexpr double kOnly[] = {1.0};
    return WeightedChoice{kOnly};
  }

  std::size_t classes_;
  WeightedChoice kinds_;
  std::vector<WeightedChoice> sizes_;
};

/// Draws the ranks of durations in [0, 1). Each rank is uniform, and the ranks of a batch are near each other. A point
/// x on a circle of length 2 has rank |x| for x in [-1, 1); a batch has a point, and each of its jobs has one within
/// `width` of that on either side.
double rank_near(double centre, double width, RandomStream& stream) {
  double x = centre + width * (2 * stream.uniform() - 1);
  if (x >= 1) x -= 2;
  if (x < -1) x += 2;
  return std::min(std::abs(x), 1.0);
}

std::int64_t drawn_length(const SizeClass& sizes, RandomStream& stream) {
  return sizes.shortest - 1 + stream.zipf(sizes.longest - sizes.shortest + 1, sizes.exponent);
}

/// Draws the factor on the rate of each day, one after the other. A day has a factor of its own, and one that is
/// near the factor of the day before: exp of a first-order autoregressive process.
class DayFactors {
 public:
  DayFactors(const FittedWorkload& fit, std::uint64_t seed)
      : fit_{fit}, days_{seed, "like.days"}, spells_{seed, "like.spells"} {}

  double next() {
    double factor = 1;
    if (const double sigma = fit_.day_sigma; sigma > 0) factor = days_.lognormal(-sigma * sigma / 2, sigma);
    if (const double sigma = fit_.spell_sigma; sigma > 0) {
      // exp(mu + x sigma) of a state x of variance 1, which the stream draws as a logarithm about the last one
      const double phi = fit_.spell_correlation;
      state_ = first_ ? spells_.normal(0, 1) : phi * state_ + spells_.normal(0, std::sqrt(1 - phi * phi));
      first_ = false;
      factor *= spells_.lognormal(sigma * state_ - sigma * sigma / 2, 0);
    }
    return factor;
  }

 private:
  const FittedWorkload& fit_;
  RandomStream days_, spells_;
  double state_ = 0;
  bool first_ = true;
};

class Drawing {
 public:
  Drawing(const SyntheticWorkload& options, std::uint64_t seed) : options_{options}, fit_{*options.like}, seed_{seed} {}

  void draw_jobs(std::size_t count) {
    RandomStream lengths{seed_, "like.batches"}, kinds{seed_, "like.sizes"}, users{seed_, "like.users"},
        gaps{seed_, "like.gaps"}, durations{seed_, "like.durations"}, outcomes{seed_, "like.outcomes"},
        shapes{seed_, "like.shapes"};
    const KindOfBatch kind{fit_, options_.largest};
    prepare_choices();
    jobs_.reserve(count);
    while (jobs_.size() < count) {
      Batch batch;
      kind.draw(kinds, fit_, batch);
      if (fit_.users > 0) batch.user = users.zipf(fit_.users, fit_.user_exponent);
      const SizeClass& sizes = fit_.classes[batch.size_class];
      const bool several = lengths.uniform() >= sizes.single;
      const auto length = static_cast<std::size_t>(several ? drawn_length(sizes, lengths) : 1);
      const double centre = 2 * durations.uniform() - 1;
      Draft job;
      job.batch = batches_.size();
      for (std::size_t i = 0; i < length && jobs_.size() < count; ++i) {
        if (i > 0) job.after_s += gaps.exponential(fit_.batch_gap_s);
        job.duration_s = whole_seconds(duration_quantile(sizes, rank_near(centre, fit_.batch_width, durations)));
        if (job.duration_s > kLongestJobTime.ns() / 1'000'000'000) {
          throw InputError{
              "a job would hold its GPUs for more than 100 years: workload.scaling.durations is too large, or "
              "workload.scaling.longest is missing"};
        }
        job.outcome = static_cast<JobOutcome>(outcomes_[batch.size_class].draw(outcomes));
        if (batch.gpus == 1 && !shapes_.empty()) job.shape = static_cast<int>(shapes_.front().draw(shapes));
        gpu_seconds_ += static_cast<double>(job.duration_s) * batch.gpus * share_of(job);
        jobs_.push_back(job);
      }
      batches_.push_back(batch);
    }
  }

  /// Draws the batches as a Poisson process whose rate is constant in each hour.
  void draw_arrivals(std::int64_t cluster_gpus) {
    constexpr double kHour = 3600, kDay = 24 * kHour, kEnd = 100 * 365 * kDay;
    const auto jobs = static_cast<double>(jobs_.size());
    const double jobs_per_second = options_.load
                                       ? *options_.load * static_cast<double>(cluster_gpus) * jobs / gpu_seconds_
                                       : options_.rate * fit_.jobs_per_day / kDay;
    const double batches_per_second = jobs_per_second * static_cast<double>(batches_.size()) / jobs;
    RandomStream arrivals{seed_, "like.arrivals"};
    DayFactors factors{fit_, seed_};
    const double usual = mean_factor(jobs / jobs_per_second / kDay);
    double now = 0, day_factor = 1;
    std::size_t hour = 0;
    bool hour_is_new = true;
    for (std::size_t b = 0, job = 0; b < batches_.size(); ++b) {
      double wait = arrivals.exponential(1);  // in expected batches
      while (true) {
        if (hour_is_new && hour % 24 == 0) day_factor = factors.next() / usual;
        hour_is_new = false;
        const double rate = batches_per_second * fit_.hours[hour % 24] * fit_.week[hour / 24 % 7] * day_factor;
        const double end = static_cast<double>(hour + 1) * kHour;
        if (wait <= rate * (end - now)) {
          now = std::min(end, now + wait / rate);
          break;
        }
        wait -= rate * (end - now);
        now = end;
        ++hour;
        hour_is_new = true;
        if (now > kEnd)
          throw InputError{
              "the jobs would arrive over more than 100 years: workload.scaling.rate or load is too small"};
      }
      for (; job < jobs_.size() && jobs_[job].batch == b; ++job) {
        jobs_[job].submit_s = static_cast<std::int64_t>(now + jobs_[job].after_s);
      }
    }
  }

  [[nodiscard]] std::vector<JobRequest> requests() {
    std::stable_sort(jobs_.begin(), jobs_.end(),
                     [](const Draft& a, const Draft& b) { return a.submit_s < b.submit_s; });
    std::vector<JobRequest> result(jobs_.size());
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const Draft& job = jobs_[i];
      const Batch& batch = batches_[job.batch];
      JobRequest& request = result[i];
      request.name = fmt::format("job-{}", i);
      request.submit = Time::seconds(job.submit_s);
      request.gpus = batch.gpus;
      request.duration = Time::seconds(job.duration_s);
      request.outcome = job.outcome;
      request.vc = fit_.vcs[batch.vc].name;
      if (fit_.users > 0) request.user = fmt::format("user-{}", batch.user);
      if (job.shape < 0) continue;
      const GpuShape& shape = fit_.shapes[static_cast<std::size_t>(job.shape)];
      request.gpu_share = shape.share;
      request.milli_cpus = shape.milli_cpus;
      request.host_memory = Bytes::mebibytes(shape.memory_mib);
    }
    return result;
  }

 private:
  /// The mean factor of the first days, each counted as it weighs in the week. Rate and load refer to the days in which
  /// the jobs arrive, not to spells that might have come.
  [[nodiscard]] double mean_factor(double days) const {
    DayFactors factors{fit_, seed_};
    double sum = 0, weight = 0;
    for (std::size_t day = 0; static_cast<double>(day) < std::min(days, kLongestMean); ++day) {
      const double part = std::min(1.0, days - static_cast<double>(day));
      const double week = fit_.week[day % 7];
      sum += part * week * factors.next();
      weight += part * week;
    }
    return sum > 0 ? sum / weight : 1;
  }

  void prepare_choices() {
    for (const SizeClass& each : fit_.classes) outcomes_.emplace_back(each.outcomes);
    if (fit_.shapes.empty()) return;
    std::vector<double> weights;
    for (const GpuShape& shape : fit_.shapes) weights.push_back(shape.weight);
    shapes_.emplace_back(weights);
  }

  [[nodiscard]] std::int64_t whole_seconds(double duration) const {
    duration = std::max(1.0, std::floor(duration * options_.durations + 0.5));
    if (options_.longest) duration = std::min(duration, std::max(1.0, std::floor(options_.longest->to_seconds())));
    return static_cast<std::int64_t>(duration);
  }

  [[nodiscard]] double share_of(const Draft& job) const {
    return job.shape < 0 ? 1 : fit_.shapes[static_cast<std::size_t>(job.shape)].share / 1000.0;
  }

  const SyntheticWorkload& options_;
  const FittedWorkload& fit_;
  std::uint64_t seed_;
  std::vector<WeightedChoice> outcomes_, shapes_;
  std::vector<Batch> batches_;
  std::vector<Draft> jobs_;  // in order of their batches
  double gpu_seconds_ = 0;
};

}  // namespace

std::vector<JobRequest> generate_like(const SyntheticWorkload& options, std::int64_t cluster_gpus, std::uint64_t seed) {
  CONTEND_CHECK(options.like != nullptr, "a synthetic workload is like some trace");
  Drawing drawing{options, seed};
  drawing.draw_jobs(static_cast<std::size_t>(options.jobs.value_or(options.like->fitted_jobs)));
  drawing.draw_arrivals(cluster_gpus);
  return drawing.requests();
}

}  // namespace contend

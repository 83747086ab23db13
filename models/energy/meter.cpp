#include "models/energy/meter.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <span>

namespace contend {
namespace {

constexpr Time kHour = Time::seconds(3600);
constexpr double kJoulePerKwh = 3.6e6;

/// Divided, not multiplied by 1e-9, so that whole seconds are whole.
double seconds(GpuTime time) {
  return static_cast<double>(time.ns()) / 1e9;
}

/// GPU time by state.
struct StateTimes {
  GpuTime idle, held, computing;  ///< computing is a part of `held`

  StateTimes& operator+=(const StateTimes& other) {
    idle += other.idle;
    held += other.held;
    computing += other.computing;
    return *this;
  }
  [[nodiscard]] double joule(const StatePower& power) const {
    return seconds(idle) * power.idle + seconds(held - computing) * power.waiting +
           seconds(computing) * power.computing;
  }
};

/// `part` of `length` of a time that is spread evenly, rounded down.
GpuTime spread(GpuTime all, Time part, Time length) {
  const Int128 each = all.ns() / length.ns(), rest = all.ns() % length.ns();
  return GpuTime::nanoseconds(each * part.ns() + rest * part.ns() / length.ns());
}

double at_hour(const std::vector<double>& rates, std::int64_t hour) {
  return rates[static_cast<std::size_t>(hour) % rates.size()];
}

/// A sum of 0 for each figure that is known at the site.
Consumption none_of(const SiteRates& site) {
  Consumption none;
  if (!site.price.empty()) none.price = 0;
  if (!site.carbon.empty()) none.carbon_g = 0;
  if (!site.water.empty()) none.water_l = 0;
  return none;
}

void add(Consumption& sum, const Consumption& more) {
  sum.energy_j += more.energy_j;
  if (sum.price && more.price) *sum.price += *more.price;
  if (sum.carbon_g && more.carbon_g) *sum.carbon_g += *more.carbon_g;
  if (sum.water_l && more.water_l) *sum.water_l += *more.water_l;
}

/// What this energy means in that hour.
Consumption in_hour(const SiteRates& site, double joule, std::int64_t hour) {
  Consumption drawn = none_of(site);
  const double kwh = joule / kJoulePerKwh;
  drawn.energy_j = joule;
  if (drawn.price) drawn.price = kwh * site.pue * at_hour(site.price, hour);
  if (drawn.carbon_g) drawn.carbon_g = kwh * site.pue * at_hour(site.carbon, hour);
  if (drawn.water_l) drawn.water_l = kwh * at_hour(site.water, hour);
  return drawn;
}

std::int64_t hours_of(Time end) {
  return (end.ns() + kHour.ns() - 1) / kHour.ns();
}

class Meters {
 public:
  Meters(const std::vector<MeteredGpus>& gpus, RunResult& result)
      : gpus_{gpus},
        result_{result},
        hours_(static_cast<std::size_t>(hours_of(result.end)), std::vector<StateTimes>(gpus.size())),
        totals_(gpus.size()) {}

  void run() {
    add_jobs();
    add_gpus();
    add_hours();
  }

 private:
  [[nodiscard]] static std::size_t index(std::int32_t type) { return static_cast<std::size_t>(std::max(type, 0)); }

  void add_jobs() {
    auto next = result_.uses.begin();
    for (JobResult& job : result_.jobs) {
      const auto first = next;
      next = std::find_if(first, result_.uses.end(), [&](const HeldSpan& use) { return use.job != job.id; });
      add_job(job, {first, next});
    }
  }

  void add_job(JobResult& job, std::span<const HeldSpan> uses) {
    std::vector<StateTimes> times(gpus_.size());
    Consumption drawn = none_of(gpus_.front().site);
    for (const HeldSpan& use : uses) {
      const std::size_t type = index(use.type);
      times[type] += {{}, use.held, use.computed};
      const Time length = use.until - use.since;
      StateTimes before;
      for (std::int64_t hour = use.since.ns() / kHour.ns(); hour * kHour.ns() < use.until.ns(); ++hour) {
        const Time end = std::min(use.until, kHour * (hour + 1)) - use.since;
        const StateTimes until{{}, spread(use.held, end, length), spread(use.computed, end, length)};
        const StateTimes now{{}, until.held - before.held, until.computing - before.computing};
        before = until;
        hours_[static_cast<std::size_t>(hour)][type] += now;
        add(drawn, in_hour(gpus_[type].site, now.joule(gpus_[type].power), hour));
      }
    }
    drawn.energy_j = 0;  // once for each state: exact
    for (std::size_t t = 0; t < times.size(); ++t) drawn.energy_j += times[t].joule(gpus_[t].power);
    if (drawn.price) job.cost = job.cost.value_or(0) + *drawn.price;
    job.drawn = drawn;
  }

  void add_gpus() {
    std::size_t type = 0;
    std::int64_t left = result_.types.empty() ? -1 : result_.types.front().gpus;  // of the type
    for (GpuResult& gpu : result_.gpus) {
      for (; left == 0; left = result_.types[type].gpus) ++type;
      --left;
      const StateTimes times{GpuTime{result_.end - gpu.held, 1}, GpuTime{gpu.held, 1}, GpuTime{gpu.busy, 1}};
      gpu.energy_j = times.joule(gpus_[type].power);
      totals_[type] += times;
    }
  }

  /// Where jobs were on a GPU at once, the sums over jobs are more than the GPU's: then the hours share the GPU's time
  /// as they share those sums.
  void add_hours() {
    std::vector<Consumption> of_types;
    for (const MeteredGpus& each : gpus_) of_types.push_back(none_of(each.site));
    std::vector<StateTimes> of_jobs(gpus_.size());
    for (const std::vector<StateTimes>& hour : hours_)
      for (std::size_t t = 0; t < gpus_.size(); ++t) of_jobs[t] += hour[t];
    for (std::size_t h = 0; h < hours_.size(); ++h) {
      const auto hour = static_cast<std::int64_t>(h);
      const Time length = std::min(kHour, result_.end - kHour * hour);
      for (std::size_t t = 0; t < gpus_.size(); ++t) {
        const auto part = [](GpuTime own, GpuTime all, GpuTime total) {
          return all == total ? seconds(own) : seconds(own) / seconds(all) * seconds(total);
        };
        const StateTimes& own = hours_[h][t];
        const double held_s = part(own.held, of_jobs[t].held, totals_[t].held);
        MeteredHour row;
        row.hour = hour;
        if (!result_.types.empty()) row.type = result_.types[t].name;
        row.computing_gpu_s = part(own.computing, of_jobs[t].computing, totals_[t].computing);
        row.waiting_gpu_s = held_s - row.computing_gpu_s;
        row.idle_gpu_s = seconds(GpuTime{length, gpus_of(t)}) - held_s;
        const StatePower& power = gpus_[t].power;
        row.drawn = in_hour(
            gpus_[t].site,
            row.idle_gpu_s * power.idle + row.waiting_gpu_s * power.waiting + row.computing_gpu_s * power.computing,
            hour);
        add(of_types[t], row.drawn);
        result_.hours.push_back(std::move(row));
      }
    }
    add_totals(std::move(of_types));
  }

  void add_totals(std::vector<Consumption> of_types) {
    Consumption all = none_of(gpus_.front().site);
    for (std::size_t t = 0; t < gpus_.size(); ++t) {
      of_types[t].energy_j = totals_[t].joule(gpus_[t].power);
      add(all, of_types[t]);
      if (!result_.types.empty()) result_.types[t].drawn = of_types[t];
    }
    result_.drawn = all;
  }

  [[nodiscard]] std::int64_t gpus_of(std::size_t type) const {
    return result_.types.empty() ? std::ssize(result_.gpus) : result_.types[type].gpus;
  }

  const std::vector<MeteredGpus>& gpus_;
  RunResult& result_;
  std::vector<std::vector<StateTimes>> hours_;  // by hour and type: of jobs
  std::vector<StateTimes> totals_;              // by type: of GPUs
};

}  // namespace

void measure(const std::vector<MeteredGpus>& gpus, RunResult& result) {
  CONTEND_CHECK(gpus.size() == std::max<std::size_t>(1, result.types.size()), "each type has its power");
  Meters{gpus, result}.run();
}

}  // namespace contend

// Sia (Jayaram Subramanya et al., SOSP 2023, section 3, with the constants of its released simulator) gives elastic
// jobs GPUs of several types. On each type a job may have 1, 2, 4, ... GPUs of one server, or whole servers, as far as
// it can run there; if it can have none of these, all numbers that it can have. In each period the sum over all jobs of
//
//     A_jc = round(G_jc^p, 2) of the configuration c that the job has; 1.1 if it has none, and -1.1 for p > 0
//
// is made least for p < 0, largest for p > 0, so that a job has GPUs rather than none
// (policies/scheduling/configurations.hpp). G_jc is the speed of the job there, the goodput of a job with
// workload.goodput, over its smallest one anywhere. Configurations other than the present one count r_j G_jc with r_j =
// max(age_j - restarts_j S, 0) / (age_j + S), S being `restart_s`, or 1 while the job is younger than S. A job whose
// restart is not over keeps its GPUs.
//
// The released code learns speeds while jobs run and lets a job at most double its GPUs; here speeds are known from the
// start, and nothing limits growth.

#include "policies/registry.hpp"
#include "policies/scheduling/configurations.hpp"
#include "policies/scheduling/elastic_policy.hpp"
#include "sim/error.hpp"
#include "sim/portable_math.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace contend {

namespace {

constexpr double kHundredths = 100;  // costs are rounded to these
constexpr double kWithoutGpus = 1.1, kSmallestGoodput = 1e-4, kLargestCost = 3000;

class Sia final : public ElasticPolicy {
 public:
  Sia(const DecisionTimes& decisions, double power, double restart_s, double gap)
      : ElasticPolicy{decisions}, power_{power}, restart_s_{restart_s}, gap_{gap} {}

  void pass(const ClusterView& cluster, SchedulingActions& actions) override {
    gpus_per_server_.clear();
    for (std::size_t t = 0; t < cluster.types(); ++t)
      gpus_per_server_.push_back(cluster.gpus_per_server(cluster.types() > 1 ? static_cast<std::int32_t>(t) : -1));
    ElasticPolicy::pass(cluster, actions);
  }

 protected:
  [[nodiscard]] Division divide(std::span<const ElasticJob> jobs, std::span<const int> gpus, Time now) override {
    std::vector<int> capacity{gpus.begin(), gpus.end()};
    for (const ElasticJob& job : jobs)
      if (is_restarting(job, now)) capacity[static_cast<std::size_t>(job.type)] -= job.held;
    ConfigurationProgram program{capacity};
    std::vector<std::vector<Configuration>> all;
    for (const ElasticJob& job : jobs) {
      if (is_restarting(job, now)) {
        all.emplace_back();
        continue;
      }
      all.push_back(configurations_of(job, now));
      program.add(all.back(), hundredths(kWithoutGpus));
    }
    const ConfigurationChoice choice = program.solve(gap_);
    Division division;
    auto chosen = choice.of_job.begin();
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (is_restarting(jobs[i], now)) {
        division.gpus.push_back(jobs[i].held);
        division.types.push_back(jobs[i].type);
        continue;
      }
      const std::int32_t c = *chosen++;
      const bool has = c != ConfigurationChoice::kNone;
      division.gpus.push_back(has ? all[i][static_cast<std::size_t>(c)].gpus : 0);
      division.types.push_back(has ? static_cast<std::int32_t>(all[i][static_cast<std::size_t>(c)].type) : 0);
    }
    return division;
  }

 private:
  static std::int64_t hundredths(double cost) { return std::llround(cost * kHundredths); }

  [[nodiscard]] bool is_restarting(const ElasticJob& job, Time now) const {
    return job.held > 0 && job.starts > 1 && (now - job.view.since).to_seconds() < restart_s_;
  }

  /// True if it is part of a server that a power of two divides it into, or whole servers.
  [[nodiscard]] bool is_offered(int gpus, std::size_t type) const {
    const int server = gpus_per_server_[type];
    return gpus > server ? gpus % server == 0 : gpus == server || (gpus & (gpus - 1)) == 0;
  }

  [[nodiscard]] std::vector<Configuration> configurations_of(const ElasticJob& job, Time now) const {
    const double age_s = (now - job.view.submit).to_seconds();
    const double kept =
        std::max(age_s - std::max(0, job.starts - 1) * restart_s_, 0.0) / std::max(age_s + restart_s_, 1e-9);
    const double other = job.held == 0 || age_s < restart_s_ ? 1 : kept;
    std::vector<Configuration> made = offered(job, true);
    if (made.empty()) made = offered(job, false);
    double least = 0;
    for (const Configuration& each : made) {
      const double speed = job.speed_on(each.gpus, static_cast<std::int32_t>(each.type));
      if (least == 0 || speed < least) least = speed;
    }
    for (Configuration& each : made) {
      const bool has_it = each.gpus == job.held && static_cast<std::int32_t>(each.type) == job.type;
      const double goodput = job.speed_on(each.gpus, static_cast<std::int32_t>(each.type)) / least;
      const double rated = std::max(kSmallestGoodput, has_it ? goodput : other * goodput);
      const std::int64_t cost = hundredths(std::min(portable_exp(power_ * portable_log(rated)), kLargestCost));
      each.cost = power_ < 0 ? cost : -cost;
    }
    return made;
  }

  [[nodiscard]] std::vector<Configuration> offered(const ElasticJob& job, bool only_usual) const {
    std::vector<Configuration> made;
    for (std::size_t t = 0; t < gpus_per_server_.size(); ++t)
      for (const int size : job.sizes)
        if (job.speed_on(size, static_cast<std::int32_t>(t)) > 0 && (!only_usual || is_offered(size, t)))
          made.push_back({t, size, 0});
    return made;
  }

  double power_, restart_s_, gap_;
  std::vector<int> gpus_per_server_;  // by type
};

std::unique_ptr<SchedulingPolicy> make_sia(const Parameters& parameters, const PolicyContext& context) {
  if (parameters.get<double>("power") == 0)
    throw InputError{Complaint{.key = "policies.scheduling.power",
                               .reason = "0 makes all divisions alike; expected another number"}};
  return std::make_unique<Sia>(elastic_decisions(parameters, context), parameters.get<double>("power"),
                               parameters.get<double>("restart_s"), parameters.get<double>("gap"));
}

}  // namespace

PolicyRow<SchedulingPolicy> sia_scheduling() {
  static constexpr ParameterInfo kParameters[] = {
      elastic_period_parameter(60),
      {"power", -0.5, -10, 10, "power of the goodput: the smaller, the fairer; not 0"},
      {"restart_s", 30.0, 0, 1e6, "what the policy takes a restart to cost a job, in seconds"},
      {"gap", 1e-4, 0, 1, "the search ends with a division this near to the best, relative to its cost"}};
  return {.name = "sia",
          .summary = "numbers and types of GPUs with the best sum of powers of goodputs; jobs grow, shrink and move",
          .source = "Jayaram Subramanya et al., SOSP 2023",
          .parameters = kParameters,
          .make = make_sia,
          .names_types = true};
}

}  // namespace contend

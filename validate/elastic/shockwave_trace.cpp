#include "validate/elastic/shockwave_trace.hpp"

#include "sim/error.hpp"
#include "sim/fields.hpp"
#include "text/atomic_file.hpp"
#include "text/byte_source.hpp"
#include "text/json_reader.hpp"
#include "validate/elastic/elastic_suite.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <sstream>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr int kShockwaveServers = 32;

struct ModelFacts {
  double samples;     ///< of an epoch
  int largest_batch;  ///< 0: it never changes
};

const ModelFacts& facts_of(const std::string& model) {
  static const std::map<std::string, ModelFacts> kFacts = {{"ResNet-18", {50'000, 256}},
                                                           {"ResNet-50", {100'000, 128}},
                                                           {"Transformer", {10'000, 0}},
                                                           {"LM", {59'675, 80}},
                                                           {"Recommendation", {117'907, 8192}}};
  const auto found = kFacts.find(model);
  if (found == kFacts.end()) throw InputError{fmt::format("Shockwave's trace: nothing is known of {}", model)};
  return found->second;
}

/// The epochs from which the batch is 2, 4, 8, ... times the first one.
std::vector<double> growing_epochs(const std::string& model, int batch, int gpus) {
  static const NamedTexts kEpochs{growing_epochs_text()};
  const auto found = kEpochs.all().find(fmt::format("{} {} {}", model, batch, gpus));
  return found == kEpochs.all().end() ? std::vector<double>{} : numbers_in(found->second);
}

/// The first batch, until gradient noise scales grow; then 2, 4, 8, 16 times as many.
int noise_scale_batch(const std::string& model, int batch, int gpus, std::int64_t epoch) {
  int grown = batch;
  for (const double from : growing_epochs(model, batch, gpus))
    if (static_cast<double>(epoch) >= from) grown = std::min(2 * grown, facts_of(model).largest_batch);
  return grown;
}

/// True in the epochs in which gradients change fast.
bool is_critical(const std::string& model, int batch, std::int64_t epoch) {
  const auto within = [&](int first, int last) { return epoch >= first && epoch < last; };
  if (model == "ResNet-18") return within(0, batch < 256 ? 10 : 20) || within(150, 160) || within(250, 260);
  if (model == "ResNet-50") return epoch % 30 < 10;
  if (model == "LM") return within(0, 10);
  return within(0, batch <= 1024 ? 30 : batch == 2048 ? 40 : 10);
}

/// Iterations of an epoch at each batch and their rates.
class Epochs {
 public:
  Epochs(const JsonValue& rates, const std::string& path, std::string model, int gpus)
      : rates_{rates}, path_{path}, model_{std::move(model)}, gpus_{gpus} {}

  [[nodiscard]] std::int64_t iterations(int batch) const {
    return static_cast<std::int64_t>(std::ceil(facts_of(model_).samples / batch));
  }
  /// Iterations per second; 0 if that batch was not measured.
  [[nodiscard]] double rate(int batch) const {
    const std::string key = fmt::format("('{} (batch size {})', {})", model_, batch, gpus_);
    const JsonValue* const of_job = rates_.find(key);
    const JsonValue* const alone = of_job != nullptr ? of_job->find("null") : nullptr;
    double rate = 0;
    if (alone != nullptr) std::from_chars(alone->text.data(), alone->text.data() + alone->text.size(), rate);
    return rate;
  }

 private:
  const JsonValue& rates_;
  const std::string& path_;
  std::string model_;
  int gpus_;
};

/// A job of the trace.
struct TracedJob {
  std::string model, mode;
  int batch = 1, gpus = 1;
  std::int64_t iterations = 1;  ///< at the first batch
  double longest_s = 0;         ///< it is ended when it has run for longer
  bool pays_first = false;      ///< its first round has the cost of a start
};

/// Runs a job alone, round by round.
class RoundsAlone {
 public:
  RoundsAlone(const TracedJob& job, const Epochs& epochs)
      : job_{job}, epochs_{epochs}, batch_{job.batch}, all_{job.iterations} {}

  /// One regime for each epoch. The regimes of a batch are equal: the costs of starts and of changes of the batch are
  /// spread over them.
  [[nodiscard]] std::vector<BatchRegime> regimes() {
    std::vector<BatchRegime> regimes;
    double seconds = 0;
    BatchRegime last{.until = Time{}, .progress = 0};  // the batch that has ended last
    std::int64_t first = 0;                            // epoch of the present one
    for (bool is_first = true;; is_first = false) {
      const double rate = epochs_.rate(batch_);
      std::int64_t iterations = std::min(static_cast<std::int64_t>(rate * kRound_s), all_ - done_);
      const double runs_s = static_cast<double>(iterations) / rate;
      if (is_first && job_.pays_first && runs_s > kRound_s - kNearlyWhole_s)
        iterations = static_cast<std::int64_t>(static_cast<double>(iterations) * (1 - kStart_s / runs_s));
      seconds += runs_s;
      done_ += iterations;
      const double progress = static_cast<double>(done_) / static_cast<double>(all_);
      const bool has_changed = done_ < all_ && changes(), ends = done_ >= all_ || seconds > job_.longest_s;
      if (ends || has_changed) {
        const std::int64_t epoch = present_epoch();
        const BatchRegime next{.until = Time::ceil_nanoseconds(seconds * 1e9), .progress = ends ? 1 : progress};
        for (std::int64_t parts = std::max<std::int64_t>(1, epoch - first), i = 1; i < parts; ++i) {
          const double part = static_cast<double>(i) / static_cast<double>(parts);
          regimes.push_back(
              {.until = last.until + Time::ceil_nanoseconds((next.until - last.until).to_seconds() * 1e9 * part),
               .progress = last.progress + (next.progress - last.progress) * part});
        }
        regimes.push_back(next);
        last = next;
        first = epoch;
      }
      if (ends) return regimes;
      wanted_ = batch_wanted();
    }
  }

  static constexpr double kRound_s = 120, kStart_s = 20, kNearlyWhole_s = 5;

 private:
  /// Changes the batch as was wanted at the end of the round before. What is left of an epoch counts as done.
  bool changes() {
    if (wanted_ == batch_ || !(epochs_.rate(wanted_) > 0)) return false;
    const std::int64_t before = epochs_.iterations(batch_), now = epochs_.iterations(wanted_);
    const std::int64_t epochs = (all_ + before - 1) / before;
    const auto scaled = static_cast<std::int64_t>(std::ceil(static_cast<double>(all_) * batch_ / wanted_));
    all_ = (scaled + now - 1) / now == epochs ? scaled : epochs * now;  // the number of epochs stays
    done_ = (done_ + before - 1) / before * now;
    batch_ = wanted_;
    return true;
  }
  /// One that has begun counts.
  [[nodiscard]] std::int64_t present_epoch() const {
    const std::int64_t length = epochs_.iterations(batch_);
    return (done_ + length - 1) / length;
  }
  [[nodiscard]] int batch_wanted() const {
    const int largest = facts_of(job_.model).largest_batch;
    if (largest == 0 || job_.batch == largest || job_.mode == "static") return batch_;
    const std::int64_t epoch = present_epoch();
    if (job_.mode == "accordion") return is_critical(job_.model, job_.batch, epoch) ? job_.batch : largest;
    if (job_.mode != "gns") throw InputError{fmt::format("Shockwave's trace: unknown mode {}", job_.mode)};
    const bool grows = noise_scale_batch(job_.model, job_.batch, job_.gpus, epoch + 1) > batch_;
    return grows ? std::min(2 * batch_, largest) : batch_;
  }

  const TracedJob& job_;
  const Epochs& epochs_;
  int batch_, wanted_ = batch_;
  std::int64_t all_, done_ = 0;  // iterations at the present batch
};

}  // namespace

std::optional<RunResult> run_shockwave_trace(const std::string& policy, const PolicyValues& parameters,
                                             bool foresees_batches) {
  const auto folder = std::filesystem::path{gavel_folder()}.parent_path().parent_path() / "elastic" / "shockwave";
  const std::string trace = (folder / "dynamic_120.trace").string();
  const std::string rates_path = (folder / "tacc_throughputs.json").string();
  if (!std::filesystem::exists(trace) || !std::filesystem::exists(rates_path)) return std::nullopt;
  const JsonValue rates = read_json(*open_file(rates_path), rates_path);
  const JsonValue* const v100 = rates.find("v100");
  if (v100 == nullptr) throw InputError{fmt::format("{}: no throughputs of v100", rates_path)};
  enum Field : std::size_t {
    kType = 0,
    kIterations = 5,
    kGpus = 6,
    kMode = 7,
    kDuration = 10,
    kArrival = 11,
    kFields = 12
  };
  Workload workload;
  std::istringstream lines{read_file(trace)};
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields;
    std::istringstream rest{line};
    for (std::string field; std::getline(rest, field, '\t');) fields.push_back(field);
    if (fields.size() < kFields) throw InputError{fmt::format("{}: a row has too few fields", trace)};
    constexpr std::string_view kBatch = " (batch size ";
    const std::size_t at = fields[kType].find(kBatch);
    if (at == std::string::npos) throw InputError{fmt::format("{}: no batch in {}", trace, fields[kType])};
    const std::string model = fields[kType].substr(0, at);
    const int batch = std::stoi(fields[kType].substr(at + kBatch.size()));
    JobSpec job;
    job.name = fmt::format("{}", workload.jobs.size());
    job.model = fields[kType];
    job.gpus = std::stoi(fields[kGpus]);
    job.submit = Time::ceil_nanoseconds(std::stod(fields[kArrival]) * 1e9);
    const Epochs epochs{*v100, rates_path, model, job.gpus};
    constexpr double kOverrun = 1.5;
    const TracedJob traced{.model = model,
                           .mode = fields[kMode],
                           .batch = batch,
                           .gpus = job.gpus,
                           .iterations = std::stoll(fields[kIterations]),
                           .longest_s = std::floor(std::stod(fields[kDuration]) * kOverrun),
                           .pays_first = job.submit > Time{}};
    if (!(epochs.rate(batch) > 0))
      throw InputError{fmt::format("{}: no throughput of {} on {} V100", rates_path, fields[kType], job.gpus)};
    std::vector<BatchRegime> regimes = RoundsAlone{traced, epochs}.regimes();
    job.duration = regimes.back().until;
    job.regimes = static_cast<std::int32_t>(workload.regimes.size());
    workload.regimes.push_back(std::move(regimes));
    workload.jobs.push_back(std::move(job));
  }
  ClusterSpec cluster;
  cluster.servers = kShockwaveServers;
  cluster.gpu_memory = Bytes{1};
  return run_timed(cluster, std::move(workload), policy, parameters, RoundsAlone::kStart_s, {}, foresees_batches);
}

}  // namespace contend

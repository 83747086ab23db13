#include "validate/elastic/shockwave_trace.hpp"

#include "sim/error.hpp"
#include "text/atomic_file.hpp"
#include "text/byte_source.hpp"
#include "text/json_reader.hpp"
#include "validate/elastic/elastic_suite.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <span>
#include <sstream>
#include <tuple>
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
std::vector<int> growing_epochs(const std::string& model, int batch, int gpus) {
  using Key = std::tuple<std::string_view, int, int>;
  static const std::map<Key, std::vector<int>> kEpochs = {
      {{"ResNet-18", 16, 1}, {31, 41, 51, 71}},
      {{"ResNet-18", 32, 1}, {21, 31, 51}},
      {{"ResNet-18", 64, 1}, {11, 31}},
      {{"ResNet-18", 128, 1}, {11}},
      {{"ResNet-18", 16, 2}, {21, 31, 91, 111}},
      {{"ResNet-18", 32, 2}, {11, 21, 41}},
      {{"ResNet-18", 64, 2}, {21, 41}},
      {{"ResNet-18", 128, 2}, {41}},
      {{"ResNet-18", 16, 4}, {11, 21, 81, 91}},
      {{"ResNet-18", 32, 4}, {21, 31, 61}},
      {{"ResNet-18", 64, 4}, {11, 61}},
      {{"ResNet-18", 128, 4}, {11}},
      {{"ResNet-50", 64, 1}, {101}},
      {{"ResNet-50", 32, 2}, {101, 111}},
      {{"ResNet-50", 64, 2}, {81}},
      {{"ResNet-50", 32, 4}, {131, 221}},
      {{"ResNet-50", 64, 4}, {191}},
      {{"LM", 5, 1}, {31, 41, 61, 71}},
      {{"LM", 10, 1}, {11, 21, 41}},
      {{"LM", 20, 1}, {11, 41}},
      {{"LM", 40, 1}, {11}},
      {{"LM", 5, 2}, {31, 51, 61, 71}},
      {{"LM", 10, 2}, {11, 31, 41}},
      {{"LM", 20, 2}, {31, 41}},
      {{"LM", 40, 2}, {11}},
      {{"LM", 5, 4}, {11, 31, 71, 91}},
      {{"LM", 10, 4}, {11, 31, 61}},
      {{"LM", 20, 4}, {11, 61}},
      {{"LM", 40, 4}, {61}},
      {{"Recommendation", 512, 1}, {21, 41, 71, 91}},
      {{"Recommendation", 1024, 1}, {21, 51, 91}},
      {{"Recommendation", 2048, 1}, {21, 41}},
      {{"Recommendation", 4096, 1}, {41}},
  };
  const auto found = kEpochs.find({model, batch, gpus});
  return found == kEpochs.end() ? std::vector<int>{} : found->second;
}

/// True in the epochs in which gradients change fast.
bool is_critical(const std::string& model, int batch, int epoch) {
  const auto within = [&](int first, int last) { return epoch >= first && epoch < last; };
  if (model == "ResNet-18") return within(0, batch < 256 ? 10 : 20) || within(150, 160) || within(250, 260);
  if (model == "ResNet-50") return epoch < 600 && epoch % 30 < 10;
  if (model == "LM") return within(0, 10);
  const int first = batch <= 1024 ? 30 : batch == 2048 ? 40 : 10;
  return within(0, first) || within(60, 70) || within(80, 90);
}

/// Iterations of an epoch at each batch and their rates.
class Epochs {
 public:
  Epochs(const JsonValue& rates, const std::string& path, std::string model, int gpus)
      : rates_{rates}, path_{path}, model_{std::move(model)}, gpus_{gpus} {}

  [[nodiscard]] double iterations(int batch) const { return std::ceil(facts_of(model_).samples / batch); }
  [[nodiscard]] double seconds(int batch) const {
    const std::string key = fmt::format("('{} (batch size {})', {})", model_, batch, gpus_);
    const JsonValue* const of_job = rates_.find(key);
    const JsonValue* const alone = of_job != nullptr ? of_job->find("null") : nullptr;
    double rate = 0;
    if (alone != nullptr) std::from_chars(alone->text.data(), alone->text.data() + alone->text.size(), rate);
    if (!(rate > 0)) throw InputError{fmt::format("{}: no throughput of {} on v100", path_, key)};
    return iterations(batch) / rate;
  }

 private:
  const JsonValue& rates_;
  const std::string& path_;
  std::string model_;
  int gpus_;
};

/// Regimes of a job whose epochs have these batches; the last epoch may be a part of one.
std::vector<BatchRegime> regimes_of(const Epochs& epochs, const std::vector<int>& batches, double last_part) {
  const auto size_of = [&](std::size_t e) { return e + 1 == batches.size() ? last_part : 1.0; };
  const double all = static_cast<double>(batches.size() - 1) + last_part;
  std::vector<BatchRegime> regimes;
  double seconds = 0, done = 0;
  for (std::size_t e = 0; e < batches.size(); ++e) {
    seconds += epochs.seconds(batches[e]) * size_of(e);
    done += size_of(e);
    const bool is_last = e + 1 == batches.size();
    if (!is_last && batches[e + 1] == batches[e]) continue;
    regimes.push_back({.until = Time::ceil_nanoseconds(seconds * 1e9), .progress = is_last ? 1 : done / all});
  }
  return regimes;
}

}  // namespace

std::vector<int> batches_of_epochs(const std::string& model, const std::string& mode, int batch, int gpus, int epochs) {
  constexpr double kFirstPart = 0.3;  // Accordion keeps the first batch for so much of the training
  std::vector<int> batches(static_cast<std::size_t>(epochs), batch);
  const int largest = facts_of(model).largest_batch;
  if (largest == 0 || mode == "static") return batches;
  if (mode == "accordion") {
    for (int e = 0; e < epochs; ++e)
      if (e > epochs * kFirstPart && !is_critical(model, batch, e)) batches[static_cast<std::size_t>(e)] = largest;
    return batches;
  }
  if (mode != "gns") throw InputError{fmt::format("Shockwave's trace: unknown mode {}", mode)};
  int grown = batch;
  for (const int from : growing_epochs(model, batch, gpus)) {
    grown = std::min(2 * grown, largest);
    for (int e = from; e < epochs; ++e) batches[static_cast<std::size_t>(e)] = grown;
  }
  return batches;
}

std::optional<RunResult> run_shockwave_trace(const std::string& policy, const PolicyValues& parameters,
                                             bool foresees_batches) {
  const auto folder = std::filesystem::path{gavel_folder()}.parent_path().parent_path() / "elastic" / "shockwave";
  const std::string trace = (folder / "dynamic_120.trace").string();
  const std::string rates_path = (folder / "tacc_throughputs.json").string();
  if (!std::filesystem::exists(trace) || !std::filesystem::exists(rates_path)) return std::nullopt;
  const JsonValue rates = read_json(*open_file(rates_path), rates_path);
  const JsonValue* const v100 = rates.find("v100");
  if (v100 == nullptr) throw InputError{fmt::format("{}: no throughputs of v100", rates_path)};
  enum Field : std::size_t { kType = 0, kIterations = 5, kGpus = 6, kMode = 7, kArrival = 11, kFields = 12 };
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
    const double count = std::stod(fields[kIterations]) / epochs.iterations(batch);
    const int whole = static_cast<int>(std::ceil(count));
    std::vector<BatchRegime> regimes =
        regimes_of(epochs, batches_of_epochs(model, fields[kMode], batch, job.gpus, whole), count - (whole - 1));
    job.duration = regimes.back().until;
    job.regimes = static_cast<std::int32_t>(workload.regimes.size());
    workload.regimes.push_back(std::move(regimes));
    workload.jobs.push_back(std::move(job));
  }
  ClusterSpec cluster;
  cluster.servers = kShockwaveServers;
  cluster.gpu_memory = Bytes{1};
  return run_timed(cluster, std::move(workload), policy, parameters, 0, {}, foresees_batches);
}

}  // namespace contend

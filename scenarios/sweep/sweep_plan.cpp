#include "scenarios/sweep/sweep_plan.hpp"

#include "models/workloads/fitted.hpp"
#include "results/iteration_figures.hpp"
#include "scenarios/keys/keys.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "scenarios/study/study_notes.hpp"
#include "scenarios/study/study_run.hpp"
#include "scenarios/sweep/baseline.hpp"
#include "scenarios/sweep/sweep_columns.hpp"
#include "scenarios/sweep/sweep_keys.hpp"
#include "sim/parallel.hpp"
#include "text/sha256.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace contend {
namespace {

constexpr std::string_view kWorkers = "overlap.workers";
constexpr std::string_view kCompression = "overlap.compression";
constexpr std::string_view kTargets = "overlap.iterations_to_target";  // of the one method that a point studies
constexpr std::string_view kFusion = "overlap.fusion";
/// Lists of a study of one iteration, each item a point of its own; the last varies fastest.
constexpr std::array kStudied = {kWorkers, kCompression, kFusion};

/// A setting as it is applied: a single value stands for the list of it where the key takes a list.
std::string assignment(const SweepSetting& setting) {
  const ScenarioKey* key = sweepable_key(setting.key);
  const bool wants_list = key != nullptr && key->path == setting.key && key->io->type.starts_with("list of ");
  const bool is_list = setting.value.text.starts_with('[');
  return setting.key + "=" + (wants_list && !is_list ? "[" + setting.value.text + "]" : setting.value.text);
}

/// Complaints of all points: equal ones once.
class PointComplaints {
 public:
  void add(const std::string& point, Complaint complaint) {
    const auto key = std::tuple{complaint.file, complaint.line, complaint.column, complaint.key, complaint.reason};
    const auto [there, is_new] = numbers_.emplace(key, found_.size());
    if (is_new) found_.push_back({std::move(complaint), point, 0});
    ++found_[there->second].points;
  }

  void throw_if_any() {
    std::vector<Complaint> all;
    for (Found& each : found_) {
      if (!each.point.empty())
        each.complaint.reason +=
            fmt::format(" (at the point {}{})", each.point,
                        each.points > 1 ? fmt::format(" and {} more", each.points - 1) : std::string{});
      all.push_back(std::move(each.complaint));
    }
    if (!all.empty()) throw InputError{std::move(all)};
  }

 private:
  struct Found {
    Complaint complaint;
    std::string point;
    std::size_t points;
  };
  std::vector<Found> found_;
  std::map<std::tuple<std::string, int, int, std::string, std::string>, std::size_t> numbers_;
};

/// Item `number` of all combinations, in the order of run_study().
void keep_one(IterationStudy& study, std::size_t number) {
  const StudyVariant kept = study_variants(study)[number];
  study.workers = {kept.workers};
  study.compression = {kept.compression};
  study.fusion = {kept.fusion};
  std::erase_if(study.iterations_to_target,
                [&](const IterationsToTarget& target) { return !target.is_for(study.compression.front()); });
}

/// As --set would have it.
std::string printed_setting(std::string_view path, const Scenario& scenario) {
  for (const ScenarioKey& key : scenario_keys())
    if (key.path == path) return fmt::format("{}={}", path, key.io->print(scenario));
  return {};
}

}  // namespace

SweepPlan::SweepPlan(ScenarioVariants variants, unsigned threads) : variants_{std::move(variants)} {
  const SweepSpec spec = std::exchange(variants_.base().sweep, SweepSpec{});
  raw_ = sweep_points(spec);
  varies_expectations_ = std::ranges::any_of(
      raw_.keys, [](const std::string& key) { return key == "expect" || key.starts_with("expect."); });
  apply_settings();
  find_candidates();
  PointHasher hasher{*lists_};
  std::vector<Draft> drafts = read_points(threads, hasher);
  files_ = hasher.files();
  PointComplaints complaints;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    if (drafts[i].complaints.empty()) continue;
    std::vector<std::string> settings;
    for (const std::uint32_t number : raw_.points[i]) settings.push_back(applied_[number].assignment);
    for (Complaint& each : drafts[i].complaints) complaints.add(join(settings, " "), std::move(each));
  }
  complaints.throw_if_any();
  set_kind(drafts);
  set_draws(drafts);
  set_repeat(spec);
  set_points(drafts, spec);
  for (std::size_t i = 0; i < spec.exclude.size(); ++i)
    if (raw_.excluded[i] == 0) notes_.push_back(fmt::format("sweep.exclude[{}] leaves out no point", i));
  if (const auto& like = variants_.base().workload.like) {
    if (std::string caveat = ranking_caveat(*find_fitted_workload(*like)); !caveat.empty())
      notes_.push_back("workload.like: " + std::move(caveat));
  }
  info_.runs = static_cast<std::int64_t>(points_.size()) * info_.repeat;
  if (!spec.baseline.empty()) {
    const std::vector<std::int64_t> partners = baseline_points(info_, points_, spec.baseline);
    for (std::size_t i = 0; i < points_.size(); ++i) points_[i].baseline = partners[i];
  }
  set_hash();
}

void SweepPlan::apply_settings() {
  std::vector<Complaint> complaints;
  for (const SweepSetting& setting : raw_.settings) {
    std::vector<Complaint> found;
    std::string text = assignment(setting);
    std::optional<ScenarioLayer> layer = override_layer(text, found);
    for (Complaint& each : found)
      complaints.push_back(sweep_complaint(setting.value.place, setting.key, each.reason, each.hint));
    if (layer) applied_.push_back({std::move(text), std::move(*layer)});
  }
  if (!complaints.empty()) throw InputError{std::move(complaints)};
}

void SweepPlan::find_candidates() {
  for (const std::string& key : raw_.keys) candidates_.push_back({EffectiveKey{key, raw_.keys}, false});
  for (const std::string_view key : kStudied) {
    if (std::find(raw_.keys.begin(), raw_.keys.end(), key) == raw_.keys.end())
      candidates_.push_back({EffectiveKey{std::string{key}, raw_.keys}, true});
  }
}

/// What the strict reader says about a setting belongs to the place where the value was written.
Complaint SweepPlan::at_its_place(Complaint complaint, std::size_t raw) const {
  if (complaint.file != "--set" || complaint.source_line.empty()) return complaint;
  for (const std::uint32_t number : raw_.points[raw]) {
    if (!applied_[number].assignment.starts_with(complaint.source_line)) continue;
    return sweep_complaint(raw_.settings[number].value.place, complaint.key, complaint.reason, complaint.hint);
  }
  return complaint;
}

Scenario SweepPlan::raw_scenario(std::size_t raw) const {
  std::vector<const ScenarioLayer*> layers;
  for (const std::uint32_t number : raw_.points[raw]) layers.push_back(&applied_[number].layer);
  return variants_.with(layers);
}

std::vector<SweepPlan::Draft> SweepPlan::read_points(unsigned threads, PointHasher& hasher) const {
  std::vector<Draft> drafts(raw_.points.size());
  const auto read = [&](std::size_t raw) {
    Draft& draft = drafts[raw];
    try {
      const Scenario scenario = raw_scenario(raw);
      const IterationStudy& study = scenario.overlap;
      draft.is_study = study.given();
      const std::size_t items = draft.is_study ? study_variants(study).size() : 1;
      for (std::size_t i = 0; i < items; ++i) {
        const Source source{raw, i};
        Variant& variant = draft.variants.emplace_back(Variant{source, {}, {}, {}, {}, false, Draws::independent, {}});
        Scenario one = scenario;
        if (draft.is_study) keep_one(one.overlap, source.item);
        for (const Candidate& each : candidates_) variant.values.push_back(each.key.value(one));
        for (const std::uint32_t number : raw_.points[raw]) variant.settings.push_back(applied_[number].assignment);
        const auto set_one = [&](std::string_view key, std::size_t choices) {
          if (draft.is_study && choices > 1) variant.settings.push_back(printed_setting(key, one));
        };
        set_one(kWorkers, study.workers.size());
        set_one(kCompression, study.compression.size());
        set_one(kFusion, study.fusion.size());
        set_one(kTargets, study.iterations_to_target.empty() ? 0 : study.compression.size());
        variant.unfitted = unfitted_workers(one.network, one.overlap);
        variant.free_start = messages_start_free(one.cluster, one.network, one.overlap);
        variant.draws = draws_of(one.workload);
        if (one.workload.jobs && one.workload.sampling.block)
          variant.blocks = fmt::format("{}\n{}", *one.workload.jobs, one.workload.sampling.block->ns());
        variant.hash = hasher(std::move(one));
      }
    } catch (const InputError& error) {
      for (const Complaint& each : error.complaints()) draft.complaints.push_back(at_its_place(each, raw));
    }
  };
  parallel_for(
      threads, drafts.size(), [&] { return read; }, [] { return false; });
  return drafts;
}

void SweepPlan::set_kind(const std::vector<Draft>& drafts) {
  const auto is_study = [](const Draft& draft) { return draft.is_study; };
  const bool any = std::any_of(drafts.begin(), drafts.end(), is_study);
  if (any && !std::all_of(drafts.begin(), drafts.end(), is_study))
    throw InputError{"some points study an iteration (overlap.*) and some a cluster: they have no figure in common"};
  const Scenario& base = variants_.base();
  info_.name = base.name;
  info_.kind = any ? "study" : "jobs";
  info_.metrics = store_metrics(metrics());
  info_.scenario = to_yaml(base);
  first_seed_ = base.seed;
}

/// The runs of all points must scatter for the same reason, because figures of points are averaged and compared.
void SweepPlan::set_draws(const std::vector<Draft>& drafts) {
  std::set<Draws> draws;
  std::set<std::string> blocks;
  for (std::size_t raw = 0; raw < drafts.size(); ++raw) {
    for (const Variant& each : drafts[raw].variants) {
      draws.insert(each.draws);
      if (each.blocks.empty() || !blocks.insert(each.blocks).second) continue;
      const Scenario& scenario = raw_scenario(raw);
      if (std::string note = few_blocks_note(scenario.cluster, scenario.workload, scenario.training, *lists_);
          !note.empty())
        notes_.push_back(std::move(note));
    }
  }
  if (draws.size() > 1)
    throw InputError{
        {.key = "sweep",
         .reason = "some points resample a job list and others don't: the scatter of resamples is the error of one "
                   "list, that of other runs comes from the seeds, so no interval would hold for both",
         .hint = "resample the lists of all points by workload.resample.block, or make two sweeps"}};
  if (info_.kind == "jobs") info_.resampled = draws.contains(Draws::resamples);
}

void SweepPlan::set_repeat(const SweepSpec& spec) {
  info_.repeat = spec.repeat.value_or(variants_.base().repeat);
}

/// Values as they were written first, where both texts mean one value: 2.5Gbps rather than 2500Mbps.
void SweepPlan::keep_spelling(const std::string& key, const std::vector<Variant>& variants,
                              std::vector<std::optional<PlainValue>>& values) const {
  std::map<std::string, std::string> spelling;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) continue;
    const auto [there, is_new] = spelling.emplace(values[i]->text, values[i]->text);
    for (const std::uint32_t number : raw_.points[variants[i].source.raw]) {
      const SweepSetting& setting = raw_.settings[number];
      if (is_new && setting.key == key && same_value(setting.value, *values[i])) there->second = setting.value.text;
    }
    values[i]->text = there->second;
  }
}

/// The columns of the points, which are in the order of the variants.
void SweepPlan::set_parameters(std::vector<Variant>& variants) {
  points_.resize(variants.size());
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    std::vector<std::optional<PlainValue>> values;
    for (Variant& each : variants) values.push_back(std::move(each.values[i]));
    const bool differ = std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>{}) != values.end();
    if (candidates_[i].implied && !differ) continue;
    const std::string& key = candidates_[i].key.name();
    keep_spelling(key, variants, values);
    const StoreParameter& parameter = info_.parameters.emplace_back(parameter_column(key, values));
    for (std::size_t point = 0; point < points_.size(); ++point) {
      points_[point].values.push_back(column_value(parameter, values[point]));
      points_[point].numbers.push_back(column_number(parameter, values[point]));
    }
  }
}

/// Whether any rule leaves the point out; every rule that does is noted.
bool SweepPlan::is_excluded(const StorePoint& point, const SweepSpec& spec) {
  bool excluded = false;
  for (std::size_t i = 0; i < spec.exclude.size(); ++i) {
    const auto& wanted = spec.exclude[i].keys;
    const bool matched = std::all_of(wanted.begin(), wanted.end(), [&](const SweepDimension& each) {
      return std::any_of(each.values.begin(), each.values.end(),
                         [&](const SweepValue& value) { return has_value(info_, point, each.key, value); });
    });
    if (matched) ++raw_.excluded[i];
    excluded = excluded || matched;
  }
  return excluded;
}

void SweepPlan::set_points(std::vector<Draft>& drafts, const SweepSpec& spec) {
  std::vector<Variant> all;
  for (Draft& draft : drafts)
    for (Variant& each : draft.variants) all.push_back(std::move(each));
  set_parameters(all);
  std::size_t kept = 0;
  bool free_start = false;
  std::map<std::pair<bool, std::vector<int>>, UnfittedWorkers> unfitted;  // one note for all points of the same costs
  for (std::size_t i = 0; i < all.size(); ++i) {
    points_[i].hash = std::move(all[i].hash);
    points_[i].settings = std::move(all[i].settings);
    if (is_excluded(points_[i], spec)) continue;
    if (kept != i) points_[kept] = std::move(points_[i]);
    points_[kept].point = static_cast<std::int64_t>(kept);
    sources_.push_back(all[i].source);
    free_start = free_start || all[i].free_start;
    const UnfittedWorkers& one = all[i].unfitted;
    UnfittedWorkers& same = unfitted.emplace(std::pair{one.whole, one.fitted}, one).first->second;
    same.workers.insert(one.workers.begin(), one.workers.end());
    ++kept;
  }
  for (const auto& [costs, each] : unfitted)
    if (!each.workers.empty()) notes_.push_back(each.note());
  if (free_start && std::ranges::find(info_.parameters, kFusion, &StoreParameter::key) != info_.parameters.end())
    notes_.push_back(free_start_note());
  points_.resize(kept);
  if (points_.empty()) throw InputError{"sweep.exclude leaves no point"};
}

void SweepPlan::set_hash() {
  constexpr std::size_t kHashDigits = 16;
  std::string text = fmt::format("{} {} {}\n", info_.kind, first_seed_, info_.repeat);
  for (const StoreParameter& each : info_.parameters) text += each.key + " ";
  for (const StorePoint& each : points_)
    text += fmt::format("\n{} {}", each.hash, each.baseline ? fmt::format("{}", *each.baseline) : "");
  info_.plan = sha256_hex(text).substr(0, kHashDigits);
}

Scenario SweepPlan::scenario(std::int64_t point) const {
  const Source& source = sources_[static_cast<std::size_t>(point)];
  Scenario scenario = raw_scenario(source.raw);
  for (Complaint& place : scenario.overlap.places) place = at_its_place(place, source.raw);
  if (scenario.overlap.given()) keep_one(scenario.overlap, source.item);
  return scenario;
}

}  // namespace contend

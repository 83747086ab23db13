#include "calibration/calibrator.hpp"

#include "calibration/device_watch.hpp"
#include "calibration/open_device.hpp"
#include "calibration/predictor.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr double kCheckpointSeconds = 5, kLookSeconds = 1;
/// The time limit of an operation: this many times its share of the rest, and at least this many seconds.
constexpr double kShares = 1.5, kLeastLimit = 0.05;
/// A slow operation may take this share of the rest of the budget for its fewest samples.
constexpr double kPatience = 0.02;
/// Measures the first shape of every table first, then every 8th, every 4th, every 2nd, and the rest: if time runs out,
/// all operators are covered, only more coarsely.
int round_of(std::size_t place) {
  constexpr int kLastRound = 4, kCoarsest = 3;
  return place == 0 ? 0 : kLastRound - std::min(kCoarsest, std::countr_zero(place));
}
/// Operations at least this long show the device's rates; shorter ones show the cost of a launch.
constexpr double kSteadySeconds = 1e-3;
/// The fewest executions of a measurement, including its warm-up.
constexpr double kLeastExecutions = 8;

RepetitionRules rules_of(CalibrationMode mode) {
  RepetitionRules rules;
  if (mode == CalibrationMode::quick) {
    rules.half_width = 0.02;
    rules.sample_seconds = 5e-4;
    rules.limit_seconds = 1;
  } else {
    rules.limit_seconds = 2;
    rules.warm_up_seconds = 5e-3;
    rules.least_samples = 20;
  }
  return rules;
}

bool is_sustained(const OperatorInfo& info) {
  return info.name == "gemm_sustained";
}

/// Products draw the most power. Some are measured after seconds of them, as in training; the others after as long as a
/// device takes to lower its clock first.
void warm_up_longer(const OperatorInfo& info, CalibrationMode mode, double budget_left, RepetitionRules& rules) {
  constexpr double kHeavyWarmUp = 0.1, kQuickSustained = 1, kFullSustained = 3;
  if (info.group == OperatorGroup::gemm || info.group == OperatorGroup::convolution ||
      info.group == OperatorGroup::attention)
    rules.heavy_warm_up_seconds = kHeavyWarmUp;
  if (!is_sustained(info)) return;
  rules.warm_up_seconds = std::min(mode == CalibrationMode::quick ? kQuickSustained : kFullSustained, budget_left / 4);
  // The warm-up takes at most half of the limit.
  rules.limit_seconds = 2 * rules.warm_up_seconds;
}

/// A second visit needs no more than enough for a median beside the first one.
constexpr int kSecondSamples = 10;
/// What the reason of a shape begins with that broke the device when it was tried again. It isn't tried any more.
constexpr std::string_view kTwiceBroken = "the device broke a second time: ";

/// One sample of the measurements of two visits: the interval covers both of their medians.
OperatorSample joined(const OperatorSample& first, const OperatorSample& second) {
  OperatorSample out = first;
  out.seconds = (first.seconds + second.seconds) / 2;
  const double apart = std::abs(first.seconds - second.seconds) / 2 / out.seconds;
  out.half_width = std::max({first.half_width, apart});
  out.repetitions = first.repetitions + second.repetitions;
  return out;
}

CalibrationProfile head_of(const contend_backend& backend, const CalibrationRequest& request,
                           const contend_device_info& info) {
  CalibrationProfile out;
  out.name = request.name.empty() ? profile_name(info.name) : request.name;
  out.backend = backend.name;
  out.device = info.name;
  out.driver = info.driver;
  out.runtime = info.runtime;
  out.libraries = info.libraries;
  out.date = request.date;
  out.version = request.version;
  out.mode = to_string(request.mode);
  out.complete = false;
  out.memory_bytes = info.memory_bytes;
  out.multiprocessors = info.multiprocessors;
  out.capability = info.capability;
  out.clock_mhz = info.clock_mhz;
  out.memory_clock_mhz = info.memory_clock_mhz;
  return out;
}

void check_same(const CalibrationProfile& begun, const CalibrationProfile& now) {
  std::vector<Complaint> faults;
  const auto compare = [&](const char* key, const std::string& before, const std::string& after) {
    if (before == after) return;
    Complaint fault;
    fault.key = key;
    fault.reason = fmt::format("the profile says \"{}\", here it is \"{}\"", before, after);
    fault.hint = "go on only with a profile of the same; write to another file to begin again";
    faults.push_back(std::move(fault));
  };
  compare("backend", begun.backend, now.backend);
  compare("device", begun.device, now.device);
  compare("driver", begun.driver, now.driver);
  compare("runtime", begun.runtime, now.runtime);
  compare("libraries", begun.libraries, now.libraries);
  compare("version", begun.version, now.version);
  compare("mode", begun.mode, now.mode);
  if (!faults.empty()) throw InputError{std::move(faults)};
}

class Calibration {
 public:
  Calibration(const contend_backend& backend, const CalibrationRequest& request, const CalibrationHooks& hooks,
              const std::optional<CalibrationProfile>& begun)
      : backend_{backend},
        request_{request},
        hooks_{hooks},
        begin_{hooks.clock()},
        device_{backend, request.device},
        watch_{backend},
        rules_{rules_of(request.mode)} {
    result_.profile = head_of(backend, request, device_.info());
    plan_ = design({.mode = request.mode,
                    .memory_bytes = std::min(device_.info().memory_bytes, device_.info().free_bytes),
                    .devices = device_.info().devices},
                   request.groups);
    if (begun) take_over(*begun);
    list_items();
    total_ = left_ = items_.size();
  }

  CalibrationResult run() {
    watch_.look("the start");
    checkpoint();
    for (const Item& each : items_) {
      if (!measure_item(each)) break;
    }
    if (request_.visit_twice && result_.end == CalibrationEnd::finished) visit_again();
    watch_.look("the end");
    result_.profile = assembled();
    OperatorPredictor::fit_all(result_.profile, std::max(1U, std::thread::hardware_concurrency()));
    result_.profile.complete = result_.end == CalibrationEnd::finished;
    return std::move(result_);
  }

 private:
  using Key = std::pair<std::size_t, DataType>;  ///< place in operators(), type
  struct Entry {
    std::map<OperatorShape, OperatorSample> samples;
    std::map<OperatorShape, std::string> skipped;  ///< reasons; an empty shape: all
    double flop_rate = 0, byte_rate = 0;           ///< the best of steady ones; 0: none yet
  };

  struct Item {
    const DesignedTable* table;
    const OperatorShape* shape;
    std::pair<bool, int> turn;  ///< whether it was missed before, its round
  };

  static Key key_of(std::string_view name, DataType type) {
    return {static_cast<std::size_t>(find_operator(name) - operators().data()), type};
  }

  void take_over(const CalibrationProfile& begun) {
    check_same(begun, result_.profile);
    if (request_.name.empty()) result_.profile.name = begun.name;
    earlier_warnings_ = begun.warnings;
    earlier_power_limited_s_ = begun.power_limited_s;
    result_.profile.visited_twice = begun.visited_twice;
    for (const OperatorTable& table : begun.tables) {
      Entry& entry = entries_[key_of(table.name, table.type)];
      for (const OperatorSample& sample : table.samples) {
        entry.samples.emplace(sample.shape, sample);
        note_rates(*find_operator(table.name), table.type, sample, entry);
      }
    }
    for (const SkippedOperation& each : begun.skipped) {
      const bool again = !each.reason.starts_with(kTwiceBroken) &&
                         std::any_of(plan_.begin(), plan_.end(), [&](const DesignedTable& table) {
                           return table.info->name == each.name && table.type == each.type;
                         });
      const Key key = key_of(each.name, each.type);
      if (again) missed_.insert({key, each.shape});
      entries_[key].skipped[each.shape] = each.reason;  // until it has been measured
    }
  }

  /// Lists what to measure, in order. Operations that a resumed profile could not measure come last, in case one of
  /// them made the device fail.
  void list_items() {
    for (const DesignedTable& table : plan_) {
      const Key key = key_of(table.info->name, table.type);
      Entry& entry = entries_[key];
      entry.skipped.erase(OperatorShape{});
      if (!table.skipped.empty()) entry.skipped[{}] = table.skipped;
      for (std::size_t i = 0; i < table.shapes.size(); ++i) {
        const bool missed = missed_.contains({key, table.shapes[i]}) || missed_.contains({key, {}});
        // What runs beside another has few shapes, and all of them are needed.
        const int round = table.info->group == OperatorGroup::contention ? 0 : round_of(i);
        const auto skipped = entry.skipped.find(table.shapes[i]);
        const bool is_given_up = skipped != entry.skipped.end() && skipped->second.starts_with(kTwiceBroken);
        if (!entry.samples.contains(table.shapes[i]) && !is_given_up)
          items_.push_back({&table, &table.shapes[i], {missed, round}});
      }
    }
    std::stable_sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) { return a.turn < b.turn; });
  }

  /// Visits what was measured a second time, in the same order, while time remains.
  void visit_again() {
    const std::vector<const Item*> measured = std::exchange(measured_, {});
    std::size_t rest = measured.size();
    for (const Item* const each : measured) {
      const OperatorInfo& info = *each->table->info;
      const double budget_left = request_.budget_seconds - elapsed();
      if (budget_left < kLeastLimit || (hooks_.cancelled && hooks_.cancelled())) return;
      --rest;
      if (is_sustained(info)) continue;
      RepetitionRules rules = rules_;
      rules.most_samples = rules.least_samples = kSecondSamples;
      warm_up_longer(info, request_.mode, budget_left, rules);
      const double share = kShares * budget_left / static_cast<double>(rest + 1);
      rules.limit_seconds = std::min({rules.limit_seconds, std::max(share, kLeastLimit), budget_left});
      const MeasuredOperation found = measure(backend_, info, each->table->type, *each->shape, rules, hooks_.clock);
      // The first visit stands whatever becomes of the second; the device may have to be left alone.
      if (found.status == CONTEND_BROKEN) return;
      if (!found.sample) continue;
      OperatorSample& sample = entries_[key_of(info.name, each->table->type)].samples.at(*each->shape);
      sample = joined(sample, *found.sample);
      ++visited_twice_;
      now_and_then(*each->table);
    }
  }

  /// Returns false when there are no more.
  bool measure_item(const Item& item) {
    const DesignedTable& table = *item.table;
    if (hooks_.cancelled && hooks_.cancelled()) {
      result_.end = CalibrationEnd::cancelled;
      return false;
    }
    if (hooks_.progress)
      hooks_.progress({.op = table.info->name,
                       .type = table.type,
                       .done = total_ - left_,
                       .total = total_,
                       .seconds_left = seconds_left()});
    Entry& entry = entries_[key_of(table.info->name, table.type)];
    if (!measure_one(item, entry)) return false;
    if (entry.samples.contains(*item.shape)) measured_.push_back(&item);
    --left_;
    now_and_then(table);
    return true;
  }

  /// Returns false if the device is lost.
  bool measure_one(const Item& item, Entry& entry) {
    const DesignedTable& table = *item.table;
    const OperatorShape& shape = *item.shape;
    const double budget_left = request_.budget_seconds - elapsed();
    RepetitionRules rules = rules_;
    const double share = kShares * budget_left / static_cast<double>(left_);
    rules.limit_seconds = std::min({rules.limit_seconds, std::max(share, kLeastLimit), budget_left});
    rules.patience_seconds = std::max(rules.limit_seconds, kPatience * budget_left);
    warm_up_longer(*table.info, request_.mode, budget_left, rules);
    if (budget_left < kLeastLimit) {
      entry.skipped[shape] = no_time();
      return true;
    }
    const OperatorWork work = table.info->work(shape, table.type);
    // Nothing is known yet of some operators but what a similar one reaches.
    const Entry& known =
        entry.flop_rate > 0 || table.info->like.empty() ? entry : entries_[key_of(table.info->like, table.type)];
    const double guess = std::max(known.flop_rate > 0 ? work.flops / known.flop_rate : 0,
                                  known.byte_rate > 0 ? work.bytes / known.byte_rate : 0);
    if (kLeastExecutions * guess > rules.patience_seconds) {
      entry.skipped[shape] = fmt::format("too slow: at least {:.2g} s each, and {:.2g} s for {} of them", guess,
                                         rules.patience_seconds, kLeastExecutions);
      return true;
    }
    const MeasuredOperation found = measure(backend_, *table.info, table.type, shape, rules, hooks_.clock);
    if (found.sample) {
      entry.samples.emplace(shape, *found.sample);
      entry.skipped.erase(shape);
      note_rates(*table.info, table.type, *found.sample, entry);
      if (found.drifted) ++drifted_;
      return true;
    }
    entry.skipped[shape] = found.reason;
    if (found.status != CONTEND_BROKEN && found.status != CONTEND_NO_DEVICE) return true;
    result_.message = found.reason;
    const bool is_retried = item.turn.first && found.status == CONTEND_BROKEN;
    if (is_retried) entry.skipped[shape] = fmt::format("{}{}", kTwiceBroken, found.reason);
    if (is_retried && left_ == 1) return false;  // nothing is left but what always breaks the device
    const bool another = found.status == CONTEND_BROKEN && (is_retried || !measured_.empty());
    result_.end = another ? CalibrationEnd::device_broken : CalibrationEnd::device_lost;
    return false;
  }

  static void note_rates(const OperatorInfo& info, DataType type, const OperatorSample& sample, Entry& entry) {
    if (sample.seconds < kSteadySeconds) return;
    const OperatorWork work = info.work(sample.shape, type);
    entry.flop_rate = std::max(entry.flop_rate, work.flops / sample.seconds);
    entry.byte_rate = std::max(entry.byte_rate, work.bytes / sample.seconds);
  }

  void now_and_then(const DesignedTable& table) {
    const double now = elapsed();
    if (now - looked_ >= kLookSeconds) {
      looked_ = now;
      watch_.look(fmt::format("{} {}", table.info->name, to_string(table.type)));
    }
    if (now - saved_ >= kCheckpointSeconds) checkpoint();
  }

  void checkpoint() {
    if (hooks_.checkpoint) hooks_.checkpoint(assembled());
    saved_ = elapsed();
  }

  [[nodiscard]] double elapsed() const { return hooks_.clock() - begin_; }
  [[nodiscard]] double seconds_left() const {
    const double budget = std::max(0.0, request_.budget_seconds - elapsed());
    const std::size_t done = total_ - left_;
    if (done == 0) return budget;
    return std::min(budget, elapsed() / static_cast<double>(done) * static_cast<double>(left_));
  }

  /// Of all parts of a resumed calibration; -1 if one of them is unknown.
  [[nodiscard]] double power_limited_s() const {
    const double now = watch_.power_limited_s();
    return now < 0 || earlier_power_limited_s_ < 0 ? -1 : now + earlier_power_limited_s_;
  }

  [[nodiscard]] CalibrationProfile assembled() const {
    CalibrationProfile out = result_.profile;
    for (const auto& [key, entry] : entries_) {
      const auto& [place, type] = key;
      if (!entry.samples.empty()) {
        OperatorTable table{.name = std::string{operators()[place].name}, .type = type, .samples = {}};
        for (const auto& [shape, sample] : entry.samples) table.samples.push_back(sample);
        out.tables.push_back(std::move(table));
      }
      add_skipped(key, entry, out.skipped);
    }
    out.warnings = warnings();
    out.power_limited_s = power_limited_s();
    out.visited_twice += visited_twice_;
    return out;
  }

  [[nodiscard]] std::string no_time() const { return fmt::format("no time left of {:g} s", request_.budget_seconds); }

  /// One line for all shapes of an operator if none of several could be measured, all for one reason; and one line for
  /// those that time ran out for.
  void add_skipped(const Key& key, const Entry& entry, std::vector<SkippedOperation>& out) const {
    const auto add = [&](const OperatorShape& shape, const std::string& reason) {
      out.push_back({std::string{operators()[key.first].name}, key.second, shape, reason});
    };
    std::set<std::string> reasons;
    for (const auto& [shape, reason] : entry.skipped) reasons.insert(reason);
    if (reasons.size() > 1) reasons.erase(no_time());
    if (entry.samples.empty() && entry.skipped.size() > 1 && reasons.size() == 1) return add({}, *reasons.begin());
    for (const auto& [shape, reason] : entry.skipped) add(shape, reason);
  }

  [[nodiscard]] std::vector<std::string> warnings() const {
    std::vector<std::string> out = earlier_warnings_, now = watch_.warnings();
    if (drifted_ > 0) now.push_back(fmt::format("points that still moved when their time was over: {}", drifted_));
    for (std::string& each : now)
      if (std::find(out.begin(), out.end(), each) == out.end()) out.push_back(std::move(each));
    return out;
  }

  const contend_backend& backend_;
  const CalibrationRequest& request_;
  const CalibrationHooks& hooks_;
  double begin_;
  OpenDevice device_;
  DeviceWatch watch_;
  RepetitionRules rules_;
  std::vector<DesignedTable> plan_;
  std::vector<Item> items_;  ///< of the plan
  std::map<Key, Entry> entries_;
  std::set<std::pair<Key, OperatorShape>> missed_;  ///< in the one that was begun, of the plan; an empty shape: all
  std::vector<std::string> earlier_warnings_;
  double earlier_power_limited_s_ = 0;
  std::size_t left_ = 0, total_ = 0;  ///< operations
  double looked_ = 0, saved_ = 0;     ///< elapsed seconds then
  int drifted_ = 0, visited_twice_ = 0;
  std::vector<const Item*> measured_;  ///< in this run, in their order
  CalibrationResult result_;
};

}  // namespace

CalibrationResult calibrate(const contend_backend& backend, const CalibrationRequest& request,
                            const CalibrationHooks& hooks, const std::optional<CalibrationProfile>& begun) {
  CONTEND_CHECK(request.budget_seconds > 0 && hooks.clock, "a calibration without time");
  return Calibration{backend, request, hooks, begun}.run();
}

std::string profile_name(std::string_view device) {
  std::string out;
  for (const char c : device) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'), capital = c >= 'A' && c <= 'Z';
    if (letter || capital)
      out += capital ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!out.empty() && out.back() != '-')
      out += '-';
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.empty() ? "device" : out;
}

}  // namespace contend

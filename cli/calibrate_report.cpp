#include "cli/calibrate_report.hpp"

#include "calibration/median.hpp"
#include "cli/output.hpp"
#include "cli/sweep_progress.hpp"
#include "cli/text_table.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace contend {
namespace {

constexpr std::size_t kMostReasons = 8;
constexpr double kUncertain = 0.05;

/// The best rate: `4.1 Tflop/s` for operators that compute, `812 GB/s` for those that move data, microseconds for
/// launches.
std::string best_rate(const OperatorTable& table) {
  const OperatorInfo& info = *find_operator(table.name);
  const bool computes = info.group == OperatorGroup::gemm || info.group == OperatorGroup::convolution ||
                        info.group == OperatorGroup::attention || table.name.starts_with("gemm_");
  double flops = 0, bytes = 0, launch = 0;
  for (const OperatorSample& sample : table.samples) {
    const OperatorWork work = info.work(sample.shape, table.type);
    flops = std::max(flops, work.flops / sample.seconds);
    bytes = std::max(bytes, work.bytes / sample.seconds);
    const double one = sample.seconds / static_cast<double>(sample.shape.front());
    launch = launch > 0 ? std::min(launch, one) : one;
  }
  if (info.group == OperatorGroup::launch) return fmt::format("{:.3g} us", launch * 1e6);
  if (computes)
    return flops < 1e12 ? fmt::format("{:.3g} Gflop/s", flops * 1e-9) : fmt::format("{:.4g} Tflop/s", flops * 1e-12);
  return fmt::format("{:.4g} GB/s", bytes * 1e-9);
}

std::string interval(const OperatorTable& table) {
  std::vector<double> widths;
  for (const OperatorSample& sample : table.samples) widths.push_back(sample.half_width);
  return fmt::format("{:.1f}", 100 * median_interval(widths).median);
}

std::string uncertain_points(const CalibrationProfile& profile) {
  std::size_t points = 0, uncertain = 0;
  for (const OperatorTable& table : profile.tables) {
    points += table.samples.size();
    uncertain += static_cast<std::size_t>(std::count_if(table.samples.begin(), table.samples.end(),
                                                        [](const auto& each) { return each.half_width > kUncertain; }));
  }
  std::string out = fmt::format("{} points", points);
  if (uncertain > 0) out += fmt::format(", {} of them with an interval wider than ±{:g}%", uncertain, 100 * kUncertain);
  return out + '\n';
}

}  // namespace

CalibrationLine::CalibrationLine(ProgressMode mode)
    : enabled_{mode == ProgressMode::always || (mode == ProgressMode::automatic && ::isatty(STDERR_FILENO) == 1)} {}

CalibrationLine::~CalibrationLine() {
  if (visible_) write_progress("");
}

void CalibrationLine::update(const CalibrationProgress& progress) {
  const Clock::time_point at = Clock::now();
  if (!enabled_ || at - shown_ < std::chrono::milliseconds{200}) return;
  shown_ = at;
  visible_ = true;
  write_progress(fmt::format("{} {}  {}/{}  {} left", progress.op, to_string(progress.type), progress.done,
                             progress.total, duration_text(progress.seconds_left)));
}

std::string calibration_summary(const CalibrationProfile& profile) {
  Table table{{"operator", "type", "points", "best", "interval [± %]", "prediction error [%]"}};
  table.align_left(1);
  for (const OperatorTable& each : profile.tables)
    table.add({each.name, std::string{to_string(each.type)}, fmt::format("{}", each.samples.size()), best_rate(each),
               interval(each), each.cross_validation < 0 ? "-" : fmt::format("{:.1f}", 100 * each.cross_validation)});
  return table.text() + uncertain_points(profile) + skipped_summary(profile, {});
}

std::string skipped_summary(const CalibrationProfile& profile, const std::vector<OperatorGroup>& groups) {
  struct Kind {
    std::size_t shapes = 0;
    std::set<std::string> whole;
    std::set<std::string> some;
  };
  std::map<std::string, Kind> kinds;
  for (const SkippedOperation& each : profile.skipped) {
    const OperatorGroup group = find_operator(each.name)->group;
    if (!groups.empty() && std::find(groups.begin(), groups.end(), group) == groups.end()) continue;
    // Reasons differ in their figures; what comes before the first colon tells what kind they are.
    Kind& kind = kinds[each.reason.substr(0, each.reason.find(':'))];
    (each.shape.empty() ? kind.whole : kind.some).insert(each.name);
    if (!each.shape.empty()) ++kind.shapes;
  }
  std::string out;
  std::size_t shown = 0;
  for (const auto& [reason, kind] : kinds) {
    if (++shown > kMostReasons) return out + fmt::format("skipped: {} more reasons\n", kinds.size() - kMostReasons);
    std::string what;
    if (!kind.whole.empty()) what = fmt::format("{}", fmt::join(kind.whole, ", "));
    if (kind.shapes > 0)
      what += fmt::format("{}{} shapes of {}", what.empty() ? "" : "; ", kind.shapes, fmt::join(kind.some, ", "));
    out += fmt::format("skipped: {}: {}\n", reason, what);
  }
  return out;
}

}  // namespace contend

#include "report/recording_drawing.hpp"

#include "report/colours.hpp"
#include "report/plot_scale.hpp"
#include "report/svg_parts.hpp"
#include "report/sweep_names.hpp"
#include "traces/recording/recording_summary.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr double kRecordedLane = 26, kRecordedLeft = 170, kRecordedRight = 18, kRecordedTop = 58, kRecordedBottom = 42;
constexpr std::size_t kMostThreads = 4;

/// The colour of each kind, as an index into those of series; grey is 6.
constexpr std::array<std::size_t, kRecordedKinds> kKindColours = {6, 5, 0, 4, 3, 1, 1, 1, 2, 2};

class RecordedLanes {
 public:
  RecordedLanes(const RecordedRank& rank, double width) : rank_{rank}, width_{width} {
    choose_lanes();
    for (const RecordedTask& task : rank.tasks) {
      first_ = std::min(first_, task.start);
      last_ = std::max(last_, task.start + task.duration);
    }
    if (last_ < first_) first_ = last_ = Time{};
    unit_ = time_unit((last_ - first_).to_seconds());
    const FigureAxis axis{.title = "time", .unit = "", .from_zero = true, .categories = {}};
    scale_ = fit_scale(axis, {0, shown(last_)}, true);
    bottom_ = kRecordedTop + kRecordedLane * static_cast<double>(order_.size());
  }

  [[nodiscard]] std::string drawn() const {
    const std::string title = fmt::format("rank {} of {}", rank_.rank, rank_.file);
    std::string out = svg_words(12, 20, "start", title, " font-size=\"14\" font-weight=\"bold\"") + legend() + axis();
    for (std::size_t row = 0; row < order_.size(); ++row) out += lane(row);
    for (const RecordedStep& step : rank_.steps)
      if (step.start >= first_)
        out += fmt::format(
            "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#24292f\" "
            "stroke-dasharray=\"3 3\"><title>iteration {3}</title></line>\n",
            x(step.start), kRecordedTop, bottom_, step.number);
    return svg_document(width_, bottom_ + kRecordedBottom, title, out);
  }

 private:
  /// Streams, and the threads with most time, each in order of the time.
  void choose_lanes() {
    const RankSummary summary = summarise(rank_);
    for (std::size_t i = 0; i < rank_.lanes.size(); ++i)
      if (summary.lanes[i].tasks > 0) order_.push_back(i);
    std::ranges::stable_sort(order_, std::greater{}, [&](std::size_t lane) {
      return std::pair{rank_.lanes[lane].device, summary.lanes[lane].time};
    });
    std::size_t threads = 0;
    std::erase_if(order_, [&](std::size_t lane) { return !rank_.lanes[lane].device && ++threads > kMostThreads; });
    boxes_.resize(rank_.lanes.size());
    for (const RecordedTask& task : rank_.tasks)
      boxes_[task.lane][static_cast<std::size_t>(task.kind)].emplace_back(task.start, task.start + task.duration);
  }

  [[nodiscard]] std::string legend() const {
    std::string out;
    double left = kRecordedLeft;
    for (std::size_t kind = 0; kind < kRecordedKinds; ++kind) {
      if (std::ranges::none_of(order_, [&](std::size_t lane) { return !boxes_[lane][kind].empty(); })) continue;
      const std::string_view name = to_string(static_cast<RecordedKind>(kind));
      out += svg_box(left, kRecordedTop - 24, 14, 8, series_colour(kKindColours[kind]));
      out += svg_words(left + 19, kRecordedTop - 16, "start", name);
      left += 40 + kSvgLetter * static_cast<double>(name.size());
    }
    return out;
  }

  [[nodiscard]] std::string axis() const {
    std::string out;
    const double step = scale_.ticks.size() > 1 ? scale_.ticks[1] - scale_.ticks[0] : 1;
    for (const double tick : scale_.ticks) {
      out += svg_grid_line(x(tick), kRecordedTop, bottom_);
      out += svg_words(x(tick), bottom_ + 16, "middle", tick_text(tick, "", step));
    }
    return out + svg_words((kRecordedLeft + width_ - kRecordedRight) / 2, bottom_ + 34, "middle",
                           fmt::format("time [{}]", unit_.name));
  }

  [[nodiscard]] std::string lane(std::size_t row) const {
    const RecordedLane& lane = rank_.lanes[order_[row]];
    const double top = kRecordedTop + kRecordedLane * static_cast<double>(row);
    const std::string name = lane.device ? fmt::format("GPU {} stream {}", lane.gpu, lane.name) : "thread " + lane.name;
    std::string out = svg_words(kRecordedLeft - 8, top + kRecordedLane / 2 + 4, "end", name);
    for (std::size_t kind = 0; kind < kRecordedKinds; ++kind)
      out += boxes(boxes_[order_[row]][kind], top + 2, series_colour(kKindColours[kind]));
    return out;
  }

  [[nodiscard]] std::string boxes(std::vector<std::pair<Time, Time>> times, double top, std::string_view colour) const {
    constexpr double kApart = 0.5;
    std::ranges::sort(times);
    std::string out;
    for (std::size_t i = 0; i < times.size();) {
      Time end = times[i].second;
      std::size_t next = i + 1;
      for (; next < times.size() && x(times[next].first) - x(end) < kApart; ++next)
        end = std::max(end, times[next].second);
      out +=
          svg_box(x(times[i].first), top, std::max(x(end) - x(times[i].first), kApart / 2), kRecordedLane - 4, colour);
      i = next;
    }
    return out;
  }

  [[nodiscard]] double shown(Time time) const { return (time - first_).to_seconds() / unit_.length; }
  [[nodiscard]] double x(double value) const {
    return kRecordedLeft + scale_.at(value) * (width_ - kRecordedRight - kRecordedLeft);
  }
  [[nodiscard]] double x(Time time) const { return x(shown(time)); }

  const RecordedRank& rank_;
  double width_, bottom_ = 0;
  std::vector<std::size_t> order_;                                                     ///< of lanes, from the top
  std::vector<std::array<std::vector<std::pair<Time, Time>>, kRecordedKinds>> boxes_;  ///< of lanes, by kind
  Time first_ = Time::never(), last_;
  TimeUnit unit_{};
  PlotScale scale_;
};

}  // namespace

std::string recording_svg(const RecordedRank& rank, double width) {
  return RecordedLanes{rank, width}.drawn();
}

}  // namespace contend

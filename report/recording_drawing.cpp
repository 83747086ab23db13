#include "report/recording_drawing.hpp"

#include "report/colours.hpp"
#include "report/row_frame.hpp"
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

constexpr double kRecordedLane = 26, kRecordedRight = 18, kRecordedTop = 58, kRecordedBottom = 42;
constexpr std::size_t kMostThreads = 4;
constexpr double kWideLetter = 7.7;  ///< a digit in a wide font, in pixels

/// The colour of each kind, as an index into the colours of series; grey is 6.
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
    std::size_t longest = 0;
    for (const std::size_t lane : order_) longest = std::max(longest, name_of(rank.lanes[lane]).size());
    frame_ = {.left = 16 + kWideLetter * static_cast<double>(longest),
              .right = width - kRecordedRight,
              .top = kRecordedTop,
              .bottom = kRecordedTop + kRecordedLane * static_cast<double>(order_.size()),
              .scale = fit_scale(axis, {0, shown(last_)}, true)};
  }

  [[nodiscard]] std::string drawn() const {
    const std::string title = fmt::format("rank {} of {}", rank_.rank, rank_.file);
    std::string out = svg_title(0, title) + legend() + frame_.axis(fmt::format("time [{}]", unit_.name));
    for (std::size_t row = 0; row < order_.size(); ++row) out += lane(row);
    for (const RecordedStep& step : rank_.steps)
      if (step.start >= first_)
        out += fmt::format(
            "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#24292f\" "
            "stroke-dasharray=\"3 3\"><title>iteration {3}</title></line>\n",
            x(step.start), kRecordedTop, frame_.bottom, step.number);
    return svg_document(width_, frame_.bottom + kRecordedBottom, title, out);
  }

 private:
  struct Edge {
    Time time;
    std::size_t kind;
    int sign;  ///< 1: a task begins, -1: it ends
  };
  struct Span {
    Time start, end;
    std::size_t kind;
  };

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
    spans_.resize(rank_.lanes.size());
    std::vector<std::vector<Edge>> edges(rank_.lanes.size());
    for (const RecordedTask& task : rank_.tasks) {
      const auto kind = static_cast<std::size_t>(task.kind);
      edges[task.lane].push_back({task.start, kind, 1});
      edges[task.lane].push_back({task.start + task.duration, kind, -1});
    }
    for (std::size_t lane = 0; lane < edges.size(); ++lane) spans_[lane] = spans_between(std::move(edges[lane]));
  }

  /// Where tasks lie within each other, the span is of the kind with the highest number.
  [[nodiscard]] static std::vector<Span> spans_between(std::vector<Edge> edges) {
    std::ranges::sort(edges, {}, &Edge::time);
    std::vector<Span> spans;
    std::array<int, kRecordedKinds> open{};
    for (std::size_t i = 0; i < edges.size();) {
      const Time now = edges[i].time;
      for (; i < edges.size() && edges[i].time == now; ++i) open[edges[i].kind] += edges[i].sign;
      const auto top = std::ranges::find_if(open.rbegin(), open.rend(), [](int count) { return count > 0; });
      if (top == open.rend()) continue;
      spans.push_back({now, edges[i].time, static_cast<std::size_t>(open.rend() - top) - 1});
    }
    return spans;
  }

  [[nodiscard]] static std::string name_of(const RecordedLane& lane) {
    return lane.device ? fmt::format("GPU {} stream {}", lane.gpu, lane.name) : "thread " + lane.name;
  }

  [[nodiscard]] std::string legend() const {
    std::vector<RowLegend> entries;
    for (std::size_t kind = 0; kind < kRecordedKinds; ++kind)
      if (std::ranges::any_of(order_, [&](std::size_t lane) {
            return std::ranges::find(spans_[lane], kind, &Span::kind) != spans_[lane].end();
          }))
        entries.push_back({series_colour(kKindColours[kind]), to_string(static_cast<RecordedKind>(kind))});
    return svg_legend(frame_.left, kRecordedTop - 24, entries);
  }

  [[nodiscard]] std::string lane(std::size_t row) const {
    const double top = kRecordedTop + kRecordedLane * static_cast<double>(row);
    return svg_words(frame_.left - 8, top + kRecordedLane / 2 + 4, "end", name_of(rank_.lanes[order_[row]])) +
           boxes(spans_[order_[row]], top + 2);
  }

  /// A box for each span, and, of spans narrower than a pixel, columns in which each kind is as high as its share.
  [[nodiscard]] std::string boxes(const std::vector<Span>& spans, double top) const {
    constexpr double kHeight = kRecordedLane - 4, kLeastHeight = 3;
    std::string out;
    for (std::size_t i = 0; i < spans.size();) {
      const double left = x(spans[i].start);
      if (const double width = x(spans[i].end) - left; width >= 1) {
        out += svg_box(left, top, width, kHeight, series_colour(kKindColours[spans[i].kind]));
        ++i;
        continue;
      }
      std::array<double, kRecordedKinds> time{};
      for (; i < spans.size() && x(spans[i].end) <= left + 1; ++i)
        time[spans[i].kind] += x(spans[i].end) - x(spans[i].start);
      const double width = i < spans.size() ? std::min(1.0, x(spans[i].start) - left) : 1;
      double bottom = top + kHeight;
      for (std::size_t kind = 0; kind < kRecordedKinds; ++kind) {
        if (time[kind] == 0) continue;
        const double height = std::min(std::max(time[kind] / width * kHeight, kLeastHeight), bottom - top);
        out += svg_box(left, bottom -= height, width, height, series_colour(kKindColours[kind]));
      }
    }
    return out;
  }

  [[nodiscard]] double shown(Time time) const { return (time - first_).to_seconds() / unit_.length; }
  [[nodiscard]] double x(Time time) const { return frame_.x(shown(time)); }

  const RecordedRank& rank_;
  double width_;
  std::vector<std::size_t> order_;        ///< of lanes, from the top
  std::vector<std::vector<Span>> spans_;  ///< of lanes, in order of time
  Time first_ = Time::never(), last_;
  TimeUnit unit_{};
  RowFrame frame_;
};

}  // namespace

std::string recording_svg(const RecordedRank& rank, double width) {
  return RecordedLanes{rank, width}.drawn();
}

}  // namespace contend

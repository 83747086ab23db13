#include "report/pipeline_drawing.hpp"

#include "report/colours.hpp"
#include "report/row_frame.hpp"
#include "report/svg_parts.hpp"
#include "report/sweep_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr double kLaneHeight = 26, kLanesBelow = 58, kLanesLeft = 62, kLanesRight = 18, kLanesBottom = 42;
constexpr double kDigit = 6.2;  ///< width of a digit in a box, in pixels

/// Colours of passes; a whole backward pass looks like a gradient of inputs.
struct PassLook {
  std::string_view name;
  std::size_t series;
};
constexpr std::array<PassLook, 3> kLooks = {
    {{"forward", 0}, {"backward, or gradient of inputs", 2}, {"gradient of weights", 4}}};

std::size_t look_of(PassKind kind) {
  return kind == PassKind::forward ? 0 : kind == PassKind::backward_weight ? 2 : 1;
}

class Lanes {
 public:
  /// Under `above`, with a scale up to `until`.
  Lanes(const PassLanes& drawn, double above, double width, Time until)
      : all_{drawn}, unit_{time_unit(until.to_seconds())}, above_{above} {
    const FigureAxis axis{.title = "time", .unit = "", .from_zero = true, .categories = {}};
    const double top = above + kLanesBelow;
    frame_ = {.left = kLanesLeft,
              .right = width - kLanesRight,
              .top = top,
              .bottom = top + kLaneHeight * static_cast<double>(drawn.lanes.size()),
              .scale = fit_scale(axis, {0, shown(until)}, true)};
  }

  [[nodiscard]] std::string drawn() const {
    std::string out = svg_title(above_, all_.title) + legend() + frame_.axis(fmt::format("time [{}]", unit_.name));
    for (std::size_t i = 0; i < all_.lanes.size(); ++i) out += lane(i);
    return out;
  }
  [[nodiscard]] double bottom() const { return frame_.bottom + kLanesBottom; }

 private:
  [[nodiscard]] std::string legend() const {
    std::array<bool, kLooks.size()> has{};
    int chunks = 1;
    for (const PassLane& lane : all_.lanes) {
      for (const PassBox& box : lane.boxes) {
        has[look_of(box.pass.kind)] = true;
        chunks = std::max(chunks, box.pass.chunk + 1);
      }
    }
    std::vector<RowLegend> entries;
    for (std::size_t i = 0; i < kLooks.size(); ++i)
      if (has[i]) entries.push_back({series_colour(kLooks[i].series), kLooks[i].name});
    if (chunks > 1)
      entries.push_back({series_colour(kLooks[0].series), "lighter: the next chunk of the rank", opacity(1)});
    return svg_legend(kLanesLeft, frame_.top - 24, entries);
  }

  [[nodiscard]] std::string lane(std::size_t index) const {
    const PassLane& lane = all_.lanes[index];
    const double top = frame_.top + kLaneHeight * static_cast<double>(index);
    std::string out = svg_words(kLanesLeft - 8, top + kLaneHeight / 2 + 4, "end", lane.name);
    for (const PassBox& each : lane.boxes) {
      const double height = (kLaneHeight - 4) / each.parts;
      out += box(each, top + 2 + height * each.part, height);
    }
    return out;
  }

  [[nodiscard]] double shown(Time time) const { return time.to_seconds() / unit_.length; }
  [[nodiscard]] double x(Time time) const { return frame_.x(shown(time)); }

  /// The shade of a chunk: each is lighter than the one before.
  static std::string opacity(int chunk) {
    return chunk == 0 ? "" : fmt::format(" fill-opacity=\"{:.2f}\"", std::max(0.2, 0.55 - 0.15 * (chunk - 1)));
  }

  [[nodiscard]] std::string box(const PassBox& drawn, double y, double height) const {
    const PipelinePass& pass = drawn.pass;
    const double left = x(drawn.start), width = x(drawn.end) - left;
    const std::string name = fmt::format("{} stage {}: {:.6g} to {:.6g} {}", pass_name(pass), drawn.stage,
                                         shown(drawn.start), shown(drawn.end), unit_.name);
    const std::string style = opacity(pass.chunk) + " stroke=\"#ffffff\" stroke-width=\"0.5\"";
    std::string out = svg_box(left, y, width, height, series_colour(kLooks[look_of(pass.kind)].series), style, name);
    const std::string number = fmt::format("{}", pass.micro_batch);
    if (width < kDigit * static_cast<double>(number.size()) + 2) return out;
    // White on the full colours, but for the light one of the gradients of weights.
    const bool is_dark = pass.chunk == 0 && pass.kind != PassKind::backward_weight;
    const std::string text_style = fmt::format(" font-size=\"{}\" fill=\"{}\" pointer-events=\"none\"",
                                               height < 16 ? 9 : 11, is_dark ? "#ffffff" : "#24292f");
    return out + svg_words(left + width / 2, y + height / 2 + (height < 16 ? 3 : 4), "middle", number, text_style);
  }

  const PassLanes& all_;
  TimeUnit unit_;
  RowFrame frame_;
  double above_;  ///< of the title
};

}  // namespace

Time PassLanes::until() const {
  Time last;
  for (const PassLane& lane : lanes)
    for (const PassBox& box : lane.boxes) last = std::max(last, box.end);
  return last;
}

std::string pass_lanes_svg(std::span<const PassLanes> drawings, double width) {
  Time until;
  for (const PassLanes& drawing : drawings) until = std::max(until, drawing.until());
  std::string out, titles;
  double below = 0;
  for (const PassLanes& drawing : drawings) {
    titles += (titles.empty() ? "" : "; ") + drawing.title;
    const Lanes lanes{drawing, below, width, until};
    out += lanes.drawn();
    below = lanes.bottom();
  }
  return svg_document(width, below, titles, out);
}

std::string pipeline_svg(std::span<const PipelinePanel> panels, double width) {
  std::vector<PassLanes> drawings;
  for (const PipelinePanel& panel : panels) {
    PassLanes& drawing = drawings.emplace_back();
    drawing.title = panel.title;
    for (std::size_t rank = 0; rank < panel.plan.ranks(); ++rank) {
      PassLane& lane = drawing.lanes.emplace_back();
      lane.name = fmt::format("rank {}", rank);
      for (std::size_t i = 0; i < panel.plan.order[rank].size(); ++i) {
        const PipelineStep& step = panel.plan.order[rank][i];
        int part = 0;
        for (const PipelinePass& pass : step.passes())
          lane.boxes.push_back({pass, panel.plan.stage(rank, pass), panel.times.start[rank][i],
                                panel.times.end[rank][i], part++, step.is_merged ? 2 : 1});
      }
    }
  }
  return pass_lanes_svg(drawings, width);
}

std::string pipeline_svg(const PipelinePanel& panel, double width) {
  return pipeline_svg(std::span{&panel, 1}, width);
}

}  // namespace contend

#include "report/pipeline_drawing.hpp"

#include "report/colours.hpp"
#include "report/plot_scale.hpp"
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
  Lanes(const PipelinePanel& panel, double above, double width, Time until)
      : panel_{panel},
        plan_{panel.plan},
        times_{panel.times},
        unit_{time_unit(until.to_seconds())},
        above_{above},
        top_{above + kLanesBelow} {
    const FigureAxis axis{.title = "time", .unit = "", .from_zero = true, .categories = {}};
    scale_ = fit_scale(axis, {0, shown(until)}, true);
    right_ = width - kLanesRight;
    bottom_ = top_ + kLaneHeight * static_cast<double>(plan_.ranks());
  }

  [[nodiscard]] std::string drawn() const {
    std::string out =
        svg_words(12, above_ + 20, "start", panel_.title, " font-size=\"14\" font-weight=\"bold\"") + legend() + axis();
    for (std::size_t rank = 0; rank < plan_.ranks(); ++rank) out += lane(rank);
    return out;
  }
  [[nodiscard]] double bottom() const { return bottom_ + kLanesBottom; }

 private:
  [[nodiscard]] std::string legend() const {
    std::string out;
    double left = kLanesLeft;
    std::array<bool, kLooks.size()> has{};
    std::size_t chunks = 1;
    for (std::size_t rank = 0; rank < plan_.ranks(); ++rank) {
      chunks = std::max(chunks, plan_.stage_of[rank].size());
      for (const PipelineStep& step : plan_.order[rank])
        for (const PipelinePass& pass : step.passes()) has[look_of(pass.kind)] = true;
    }
    const auto entry = [&](std::string_view colour, std::string_view style, std::string_view name) {
      out += svg_box(left, top_ - 24, 14, 8, colour, style);
      out += svg_words(left + 19, top_ - 16, "start", name);
      left += 40 + kSvgLetter * static_cast<double>(name.size());
    };
    for (std::size_t i = 0; i < kLooks.size(); ++i) {
      if (has[i]) entry(series_colour(kLooks[i].series), "", kLooks[i].name);
    }
    if (chunks > 1) entry(series_colour(kLooks[0].series), opacity(1), "lighter: the next chunk of the rank");
    return out;
  }

  [[nodiscard]] std::string axis() const {
    std::string out;
    const double step = scale_.ticks.size() > 1 ? scale_.ticks[1] - scale_.ticks[0] : 1;
    for (const double tick : scale_.ticks) {
      out += svg_grid_line(x(tick), top_, bottom_);
      out += svg_words(x(tick), bottom_ + 16, "middle", tick_text(tick, "", step));
    }
    return out + svg_words((kLanesLeft + right_) / 2, bottom_ + 34, "middle", fmt::format("time [{}]", unit_.name));
  }

  [[nodiscard]] std::string lane(std::size_t rank) const {
    const double top = top_ + kLaneHeight * static_cast<double>(rank);
    std::string out = svg_words(kLanesLeft - 8, top + kLaneHeight / 2 + 4, "end", fmt::format("rank {}", rank));
    for (std::size_t i = 0; i < plan_.order[rank].size(); ++i) {
      const PipelineStep& step = plan_.order[rank][i];
      const Time start = times_.start[rank][i], end = times_.end[rank][i];
      const double parts = step.is_merged ? 2 : 1, height = (kLaneHeight - 4) / parts;
      double y = top + 2;
      for (const PipelinePass& pass : step.passes()) {
        out += box(rank, pass, start, end, y, height);
        y += height;
      }
    }
    return out;
  }

  [[nodiscard]] double shown(Time time) const { return time.to_seconds() / unit_.length; }
  [[nodiscard]] double x(double value) const { return kLanesLeft + scale_.at(value) * (right_ - kLanesLeft); }
  [[nodiscard]] double x(Time time) const { return x(shown(time)); }

  /// The shade of a chunk: each is lighter than the one before.
  static std::string opacity(int chunk) {
    return chunk == 0 ? "" : fmt::format(" fill-opacity=\"{:.2f}\"", std::max(0.2, 0.55 - 0.15 * (chunk - 1)));
  }

  [[nodiscard]] std::string box(std::size_t rank, const PipelinePass& pass, Time start, Time end, double y,
                                double height) const {
    const double left = x(start), width = x(end) - left;
    const std::string name = fmt::format("{} stage {}: {:.6g} to {:.6g} {}", pass_name(pass), plan_.stage(rank, pass),
                                         shown(start), shown(end), unit_.name);
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

  const PipelinePanel& panel_;
  const PipelinePlan& plan_;
  const PipelineTimes& times_;
  TimeUnit unit_;
  PlotScale scale_;
  double above_, top_;  ///< of the title, of the lanes
  double right_ = 0, bottom_ = 0;
};

}  // namespace

std::string pipeline_svg(std::span<const PipelinePanel> panels, double width) {
  Time until;
  for (const PipelinePanel& panel : panels) until = std::max(until, panel.times.makespan);
  std::string out, titles;
  double below = 0;
  for (const PipelinePanel& panel : panels) {
    titles += (titles.empty() ? "" : "; ") + panel.title;
    const Lanes lanes{panel, below, width, until};
    out += lanes.drawn();
    below = lanes.bottom();
  }
  return svg_document(width, below, titles, out);
}

std::string pipeline_svg(const PipelinePanel& panel, double width) {
  return pipeline_svg(std::span{&panel, 1}, width);
}

}  // namespace contend

#include "report/row_frame.hpp"

#include "report/svg_parts.hpp"

namespace contend {

std::string RowFrame::axis(std::string_view title) const {
  std::string out;
  const double step = scale.ticks.size() > 1 ? scale.ticks[1] - scale.ticks[0] : 1;
  for (const double tick : scale.ticks) {
    out += svg_grid_line(x(tick), top, bottom);
    out += svg_words(x(tick), bottom + 16, "middle", tick_text(tick, "", step));
  }
  return out + svg_words((left + right) / 2, bottom + 34, "middle", title);
}

std::string svg_legend(double left, double y, std::span<const RowLegend> entries) {
  std::string out;
  for (const RowLegend& entry : entries) {
    out += svg_box(left, y, 14, 8, entry.colour, entry.style);
    out += svg_words(left + 19, y + 8, "start", entry.name);
    left += 40 + kSvgLetter * static_cast<double>(entry.name.size());
  }
  return out;
}

std::string svg_title(double y, std::string_view title) {
  return svg_words(12, y + 20, "start", title, " font-size=\"14\" font-weight=\"bold\"");
}

}  // namespace contend

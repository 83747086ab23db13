#pragma once
// Writes the few shapes of topology drawings as SVG text. Colours come from CSS classes that adapt to light and dark
// surroundings.

#include "text/xml.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace contend {

inline constexpr double kBoxHeight = 24;

class SvgCanvas {
 public:
  void line(double x1, double y1, double x2, double y2, double width = 1) {
    lines_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke-width=\"{:.3g}\"/>\n",
                          x1, y1, x2, y2, width);
  }
  /// Draws a curve that is pulled towards (cx, cy).
  void curve(double x1, double y1, double cx, double cy, double x2, double y2, double width = 1) {
    lines_ += fmt::format("<path d=\"M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}\" stroke-width=\"{:.3g}\"/>\n", x1, y1,
                          cx, cy, x2, y2, width);
    grow(x1, y1, 0, 0);
    grow(cx, (y1 + cy) / 2, 0, 0);
  }
  /// Draws a labelled box around its centre; `title` is its tooltip.
  void box(double x, double y, double w, double h, std::string_view shape, std::string_view label,
           std::string_view title = {}) {
    shapes_ +=
        fmt::format("<g class=\"{}\"><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"4\"/>",
                    shape, x - w / 2, y - h / 2, w, h);
    if (!title.empty()) shapes_ += "<title>" + xml_text(title) + "</title>";
    shapes_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text></g>\n", x, y + 4,
                           xml_text(label));
    grow(x, y, w / 2, h / 2);
  }
  void text(double x, double y, std::string_view anchor, std::string_view words, std::string_view kind = "note") {
    const double width = 6.3 * static_cast<double>(words.size());
    const double left = anchor == "end" ? x - width : anchor == "middle" ? x - width / 2 : x;
    shapes_ += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", kind, x, y,
                           anchor, xml_text(words));
    grow(left + width / 2, y, width / 2, 12);
  }

  [[nodiscard]] double left() const { return left_; }
  [[nodiscard]] double right() const { return right_; }
  [[nodiscard]] double top() const { return top_; }
  [[nodiscard]] double bottom() const { return bottom_; }

  /// Adds a copy of another drawing, moved by (dx, dy).
  void place(const SvgCanvas& other, double dx, double dy) {
    const std::string open = fmt::format("<g transform=\"translate({:.1f} {:.1f})\">\n", dx, dy);
    shapes_ += open + "<g class=\"wire\">\n" + other.lines_ + "</g>\n" + other.shapes_ + "</g>\n";
    left_ = std::min(left_, other.left_ + dx);
    right_ = std::max(right_, other.right_ + dx);
    top_ = std::min(top_, other.top_ + dy);
    bottom_ = std::max(bottom_, other.bottom_ + dy);
  }

  [[nodiscard]] std::string document() const {
    constexpr double kMargin = 16;
    const double w = right_ - left_ + 2 * kMargin;
    const double h = bottom_ - top_ + 2 * kMargin;
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{:.0f} {:.0f} {:.0f} {:.0f}\" width=\"{:.0f}\" "
               "height=\"{:.0f}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"11\">\n",
               left_ - kMargin, top_ - kMargin, w, h, w, h) +
           std::string{kStyle} + "<g class=\"wire\">\n" + lines_ + "</g>\n" + shapes_ + "</svg>\n";
  }

 private:
  void grow(double x, double y, double half_width, double half_height) {
    left_ = std::min(left_, x - half_width);
    right_ = std::max(right_, x + half_width);
    top_ = std::min(top_, y - half_height);
    bottom_ = std::max(bottom_, y + half_height);
  }

  // Okabe and Ito's colours, which most colour-blind people can tell apart, darkened under white text.
  static constexpr std::string_view kStyle =
      "<style>\n"
      ".wire{stroke:#7d8590;fill:none;stroke-opacity:.75}\n"
      ".note{fill:#57606a}.head{fill:#24292f;font-weight:bold;font-size:13px}\n"
      ".switch rect{fill:#0072b2}.gpu rect{fill:#00805e}.nic rect{fill:#b34d00}.bridge rect{fill:#6f7780}\n"
      ".switch text,.gpu text,.nic text,.bridge text{fill:#fff}\n"
      ".servers rect,.more rect{fill:#f6f8fa;stroke:#7d8590}.more rect{stroke-dasharray:3 3}\n"
      ".servers text,.more text{fill:#57606a}\n"
      "@media (prefers-color-scheme:dark){.note,.servers text,.more text{fill:#adb5bd}.head{fill:#e6edf3}"
      ".servers rect,.more rect{fill:#21262d}}\n"
      "</style>\n";

  std::string lines_;
  std::string shapes_;
  double left_ = 0;
  double right_ = 0;
  double top_ = 0;
  double bottom_ = 0;
};

}  // namespace contend

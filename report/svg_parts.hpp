#pragma once
// The shapes of drawings that are no figures with axes: the document around them, words and boxes as SVG text.

#include "text/xml.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace contend {

/// About the width of a letter of `words`, in pixels.
inline constexpr double kSvgLetter = 6.1;

/// A white drawing of this size with a title; `content` is its SVG.
[[nodiscard]] inline std::string svg_document(double width, double height, std::string_view title,
                                              std::string_view content) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#24292f\">\n<title>{2}</title>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n{3}</svg>\n",
      width, height, xml_text(title), content);
}

/// `style`: further attributes, each with a blank in front.
[[nodiscard]] inline std::string svg_words(double x, double y, std::string_view anchor, std::string_view text,
                                           std::string_view style = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, style,
                     xml_text(text));
}

/// `title`, if any, is shown when the pointer rests on the box.
[[nodiscard]] inline std::string svg_box(double x, double y, double width, double height, std::string_view colour,
                                         std::string_view style = "", std::string_view title = "") {
  return fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"{}", x, y, width,
                     height, colour, style) +
         (title.empty() ? std::string{"/>\n"} : fmt::format("><title>{}</title></rect>\n", xml_text(title)));
}

/// A vertical line of a grid.
[[nodiscard]] inline std::string svg_grid_line(double x, double top, double bottom) {
  return fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#e3e6ea\"/>\n", x, top,
                     bottom);
}

}  // namespace contend

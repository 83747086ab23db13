#include "report/iteration_bars.hpp"

#include "report/colours.hpp"
#include "report/plot_scale.hpp"
#include "report/sweep_names.hpp"
#include "sim/error.hpp"
#include "text/xml.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

namespace contend {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBarsFile = "overlap.csv";
constexpr double kBarsWidth = 640, kBarsTop = 56, kBarHeight = 20, kBarsBottom = 44, kBarsRight = 70, kBarsLetter = 6.1;
constexpr double kSeconds = 2;  ///< iterations from here on are drawn in seconds, shorter ones in milliseconds

struct Part {
  std::string_view column, name;
};
constexpr std::array<Part, 3> kParts = {{{"compute_s", "computing"},
                                         {"compression_s", "kernels of compression"},
                                         {"exposed_communication_s", "communication that nothing hides"}}};

struct Bar {
  std::string name;
  std::array<double, kParts.size()> parts{};
  [[nodiscard]] double total() const { return parts[0] + parts[1] + parts[2]; }
};

std::string words(double x, double y, std::string_view anchor, std::string_view text, std::string_view style = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, style,
                     xml_text(text));
}

std::string box(double x, double y, double width, double height, std::string_view colour) {
  return fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"/>\n", x, y, width,
                     height, colour);
}

std::string legend(double left) {
  std::string out;
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    out += box(left, kBarsTop - 22, 14, 8, series_colour(i));
    out += words(left + 19, kBarsTop - 14, "start", kParts[i].name);
    left += 40 + kBarsLetter * static_cast<double>(kParts[i].name.size());
  }
  return out;
}

std::string drawing(const std::string& title, const std::vector<Bar>& bars) {
  double most = 0;
  for (const Bar& bar : bars) most = std::max(most, bar.total());
  const bool seconds = most >= kSeconds;
  const double units = seconds ? 1 : 1e3;  // in a second
  const std::string_view unit = seconds ? "s" : "ms";
  std::vector<double> totals{0};
  std::size_t longest = 0;
  for (const Bar& bar : bars) {
    totals.push_back(units * bar.total());
    longest = std::max(longest, bar.name.size());
  }
  const FigureAxis axis{.title = "iteration", .unit = "", .from_zero = true, .categories = {}};
  const PlotScale scale = fit_scale(axis, totals, true);
  const double left = std::min(300.0, 20 + kBarsLetter * static_cast<double>(longest));
  const double bottom = kBarsTop + kBarHeight * static_cast<double>(bars.size()), height = bottom + kBarsBottom;
  const auto x = [&](double value) { return left + scale.at(value) * (kBarsWidth - kBarsRight - left); };
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#24292f\">\n<title>{2}</title>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      kBarsWidth, height, xml_text(title));
  out += words(12, 20, "start", title, " font-size=\"14\" font-weight=\"bold\"") + legend(12);
  const double step = scale.ticks.size() > 1 ? scale.ticks[1] - scale.ticks[0] : 1;
  for (const double tick : scale.ticks) {
    out += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#e3e6ea\"/>\n",
                       x(tick), kBarsTop, bottom);
    out += words(x(tick), bottom + 16, "middle", tick_text(tick, "", step));
  }
  out += words((left + kBarsWidth - kBarsRight) / 2, height - 10, "middle", fmt::format("iteration [{}]", unit));
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double y = kBarsTop + kBarHeight * static_cast<double>(i);
    out += words(left - 6, y + 14, "end", bars[i].name);
    double from = 0;
    for (std::size_t part = 0; part < kParts.size(); ++part) {
      const double to = from + units * bars[i].parts[part];
      if (to > from) out += box(x(from), y + 3, x(to) - x(from), kBarHeight - 6, series_colour(part));
      from = to;
    }
    out += words(x(from) + 5, y + 14, "start", fmt::format("{:.4g}", from));
  }
  return out + "</svg>\n";
}

}  // namespace

bool is_study_folder(const std::string& folder) {
  return fs::exists(fs::path{folder} / kBarsFile) && !fs::exists(fs::path{folder} / "manifest.json");
}

ColumnTable iteration_table(const std::string& folder) {
  return read_columns((fs::path{folder} / kBarsFile).string());
}

std::vector<IterationBars> iteration_bars(const std::string& folder) {
  const ColumnTable table = iteration_table(folder);
  const auto& workers = table.texts("workers");
  const std::vector<std::string> compression = value_titles(table.texts("compression"));
  const std::vector<std::string> policy = value_titles(table.texts("policy"));
  std::array<std::vector<double>, kParts.size()> parts;
  for (std::size_t i = 0; i < kParts.size(); ++i) parts[i] = table.numbers(kParts[i].column);
  const bool compresses = std::ranges::any_of(compression, [](const auto& each) { return each != "none"; });
  std::vector<IterationBars> all;
  for (std::size_t row = 0; row < table.rows();) {
    std::vector<Bar> bars;
    const std::size_t first = row;
    for (; row < table.rows() && workers[row] == workers[first]; ++row) {
      Bar& bar = bars.emplace_back();
      bar.name = compresses ? fmt::format("{}, {}", compression[row], policy[row]) : policy[row];
      for (std::size_t i = 0; i < kParts.size(); ++i) bar.parts[i] = parts[i][row];
      if (!std::isfinite(bar.total()) || bar.total() <= 0)
        throw InputError{fmt::format("{}: row {}: an iteration takes time", table.file, row + 1)};
    }
    const std::string title = fmt::format("An iteration of {} workers", workers[first]);
    all.push_back({fmt::format("iteration-{}-workers", workers[first]), title, drawing(title, bars)});
  }
  if (all.empty()) throw InputError{fmt::format("{}: no policy worked, there is nothing to draw", table.file)};
  return all;
}

}  // namespace contend

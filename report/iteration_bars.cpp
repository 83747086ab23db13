#include "report/iteration_bars.hpp"

#include "report/colours.hpp"
#include "report/plot_scale.hpp"
#include "report/svg_parts.hpp"
#include "report/sweep_names.hpp"
#include "sim/error.hpp"

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
constexpr double kBarsWidth = 640, kBarsTop = 56, kBarHeight = 20, kBarsBottom = 44, kBarsRight = 70;
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

std::string legend(double left) {
  std::string out;
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    out += svg_box(left, kBarsTop - 22, 14, 8, series_colour(i));
    out += svg_words(left + 19, kBarsTop - 14, "start", kParts[i].name);
    left += 40 + kSvgLetter * static_cast<double>(kParts[i].name.size());
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
  const double left = std::min(300.0, 20 + kSvgLetter * static_cast<double>(longest));
  const double bottom = kBarsTop + kBarHeight * static_cast<double>(bars.size()), height = bottom + kBarsBottom;
  const auto x = [&](double value) { return left + scale.at(value) * (kBarsWidth - kBarsRight - left); };
  std::string out;
  out += svg_words(12, 20, "start", title, " font-size=\"14\" font-weight=\"bold\"") + legend(12);
  const double step = scale.ticks.size() > 1 ? scale.ticks[1] - scale.ticks[0] : 1;
  for (const double tick : scale.ticks) {
    out += svg_grid_line(x(tick), kBarsTop, bottom);
    out += svg_words(x(tick), bottom + 16, "middle", tick_text(tick, "", step));
  }
  out += svg_words((left + kBarsWidth - kBarsRight) / 2, height - 10, "middle", fmt::format("iteration [{}]", unit));
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double y = kBarsTop + kBarHeight * static_cast<double>(i);
    out += svg_words(left - 6, y + 14, "end", bars[i].name);
    double from = 0;
    for (std::size_t part = 0; part < kParts.size(); ++part) {
      const double to = from + units * bars[i].parts[part];
      if (to > from) out += svg_box(x(from), y + 3, x(to) - x(from), kBarHeight - 6, series_colour(part));
      from = to;
    }
    out += svg_words(x(from) + 5, y + 14, "start", fmt::format("{:.4g}", from));
  }
  return svg_document(kBarsWidth, height, title, out);
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

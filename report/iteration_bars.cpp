#include "report/iteration_bars.hpp"

#include "report/colours.hpp"
#include "report/row_frame.hpp"
#include "report/svg_parts.hpp"
#include "report/sweep_names.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace contend {
namespace {

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

/// Of the parts that a bar has.
std::string legend(const std::vector<Bar>& bars) {
  std::vector<RowLegend> entries;
  for (std::size_t i = 0; i < kParts.size(); ++i)
    if (std::ranges::any_of(bars, [i](const Bar& bar) { return bar.parts[i] > 0; }))
      entries.push_back({series_colour(i), kParts[i].name});
  return svg_legend(12, kBarsTop - 22, entries);
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
  constexpr double kMostLeft = 300;  // longer names make the drawing wider
  const double left = 20 + kSvgLetter * static_cast<double>(longest);
  const double width = kBarsWidth + std::max(0.0, left - kMostLeft);
  const RowFrame frame{.left = left,
                       .right = width - kBarsRight,
                       .top = kBarsTop,
                       .bottom = kBarsTop + kBarHeight * static_cast<double>(bars.size()),
                       .scale = fit_scale(axis, totals, true)};
  std::string out = svg_title(0, title) + legend(bars) + frame.axis(fmt::format("iteration [{}]", unit));
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double y = kBarsTop + kBarHeight * static_cast<double>(i);
    out += svg_words(frame.left - 6, y + 14, "end", bars[i].name);
    double from = 0;
    for (std::size_t part = 0; part < kParts.size(); ++part) {
      const double to = from + units * bars[i].parts[part];
      if (to > from)
        out += svg_box(frame.x(from), y + 3, frame.x(to) - frame.x(from), kBarHeight - 6, series_colour(part));
      from = to;
    }
    out += svg_words(frame.x(from) + 5, y + 14, "start", fmt::format("{:.4g}", from));
  }
  return svg_document(width, frame.bottom + kBarsBottom, title, out);
}

std::vector<std::string> titles_of(const PackedColumn& column) {
  std::vector<std::string> values;
  for (std::size_t row = 0; row < column.size(); ++row) values.emplace_back(column[row]);
  return value_titles(values);
}

}  // namespace

std::vector<IterationBars> iteration_bars(const RunFolder& folder, const RunFolder::Run& run) {
  constexpr std::size_t kMostJobs = 64;
  const ColumnTable& table = folder.jobs;
  if (table.find(kParts.front().column) == nullptr) return {};  // an earlier version wrote the folder
  const bool is_study = folder.scenario.overlap.given();
  const auto &names = table.texts("job_id"), &workers = table.texts("gpus");
  std::array<std::vector<double>, kParts.size()> parts;
  for (std::size_t i = 0; i < kParts.size(); ++i) parts[i] = table.numbers(kParts[i].column);
  std::vector<std::size_t> rows;
  for (const std::size_t row : folder.rows_of(table, run)) {
    if (std::isfinite(parts[0][row] + parts[1][row] + parts[2][row])) rows.push_back(row);
  }
  std::vector<IterationBars> all;
  if (rows.empty() || (!is_study && rows.size() > kMostJobs)) return all;
  const std::vector<std::string> compression = titles_of(table.texts("compression"));
  const std::vector<std::string> fusion = titles_of(table.texts("fusion"));
  const bool compresses = std::ranges::any_of(rows, [&](std::size_t row) { return compression[row] != "none"; });
  const auto name_of = [&](std::size_t row) {
    if (!is_study) return std::string{names[row]};
    return compresses ? fmt::format("{}, {}", compression[row], fusion[row]) : fusion[row];
  };
  for (std::size_t i = 0; i < rows.size();) {
    std::vector<Bar> bars;
    const std::string_view first = workers[rows[i]];
    for (; i < rows.size() && (!is_study || workers[rows[i]] == first); ++i) {
      Bar& bar = bars.emplace_back();
      bar.name = name_of(rows[i]);
      for (std::size_t part = 0; part < kParts.size(); ++part) bar.parts[part] = parts[part][rows[i]];
    }
    const std::string title =
        is_study ? fmt::format("An iteration of {} workers", first) : std::string{"An iteration of each job"};
    all.push_back({is_study ? fmt::format("iteration-{}-workers", first) : std::string{"iterations"}, title,
                   drawing(title, bars)});
  }
  return all;
}

}  // namespace contend

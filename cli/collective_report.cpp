#include "cli/collective_report.hpp"

#include "calibration/median.hpp"
#include "cli/text_table.hpp"
#include "network/collectives/algorithm.hpp"
#include "network/library/nccl_model.hpp"
#include "report/collective_figures.hpp"
#include "sim/counted.hpp"
#include "text/csv.hpp"
#include "text/json_writer.hpp"
#include "text/quantities.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr double kMicro = 1e6, kGiga = 1e-9;

double algorithm_rate(const CollectiveRow& row) {
  return row.size.to_double() / row.seconds * kGiga;
}
double bus_rate(const CollectiveRow& row) {
  return algorithm_rate(row) * bus_factor(row.exchange, row.ranks);
}

std::string rate_text(double rate) {
  return fmt::format("{:.2f}", rate);
}
std::string share_text(double share) {
  return fmt::format("{:+.1f}", share * kPercent);
}

std::vector<std::string> sources_of(const std::vector<CollectiveRow>& rows) {
  std::vector<std::string> sources;
  for (const CollectiveRow& row : rows)
    if (std::ranges::find(sources, row.source) == sources.end()) sources.push_back(row.source);
  return sources;
}

/// The rows of one collective among the same ranks, in order of the first of each.
struct Series {
  TimedExchange exchange;
  int servers, ranks;
  std::vector<const CollectiveRow*> rows;
};
std::vector<Series> series_of(const std::vector<CollectiveRow>& rows) {
  std::vector<Series> all;
  for (const CollectiveRow& row : rows) {
    const auto same = [&](const Series& series) {
      return series.exchange == row.exchange && series.servers == row.servers && series.ranks == row.ranks;
    };
    auto found = std::ranges::find_if(all, same);
    if (found == all.end()) found = all.insert(all.end(), {row.exchange, row.servers, row.ranks, {}});
    found->rows.push_back(&row);
  }
  return all;
}

std::string title_of(const Series& series) {
  return fmt::format("{} among {} on {}", to_string(series.exchange), counted(series.ranks, "rank"),
                     counted(series.servers, "server"));
}

/// `NCCL 2.29.2: 5 sizes, median deviation -0.6%, of the absolute value 5.5%`
std::string median_line(const std::vector<const CollectiveRow*>& rows, const std::string& what) {
  std::vector<double> deviations, errors;
  for (const CollectiveRow* row : rows) {
    deviations.push_back(row->deviation());
    errors.push_back(std::abs(row->deviation()));
  }
  return fmt::format("{}: {} {}, median deviation {}%, median of its absolute value {:.1f}%\n", what, rows.size(),
                     rows.size() == 1 ? "size" : "sizes", share_text(median_interval(deviations).median),
                     median_interval(errors).median * kPercent);
}

std::string medians_of(const Series& series, const std::vector<std::string>& sources) {
  std::string out;
  for (const std::string& source : sources) {
    std::vector<const CollectiveRow*> all, others;
    for (const CollectiveRow* row : series.rows) {
      if (row->source != source) continue;
      all.push_back(row);
      if (!row->for_fit) others.push_back(row);
    }
    if (all.empty()) continue;
    out += median_line(all, source);
    if (others.size() < all.size() && !others.empty()) out += median_line(others, "  of them not used for the fit");
  }
  return out;
}

}  // namespace

std::string collective_text(const std::vector<CollectiveRow>& rows) {
  const std::vector<std::string> sources = sources_of(rows);
  std::string out;
  for (const Series& series : series_of(rows)) {
    std::vector<std::string> titles{"size"};
    for (const std::string& source : sources) {
      titles.push_back(fmt::format("{} [us]", source));
      titles.insert(titles.end(), {"algbw [GB/s]", "busbw [GB/s]", "algorithm"});
    }
    Table table{titles};
    for (std::size_t i = 0; i < sources.size(); ++i) table.align_left(4 * i + 4);
    std::map<Bytes, std::vector<std::string>> cells;
    for (const std::string& source : sources) {
      for (const CollectiveRow* row : series.rows) {
        if (row->source != source) continue;
        auto& line = cells[row->size];
        line.insert(line.end(),
                    {microseconds_text(row->seconds), rate_text(algorithm_rate(*row)), rate_text(bus_rate(*row)),
                     row->protocol.empty() ? row->algorithm : fmt::format("{} {}", row->algorithm, row->protocol)});
      }
    }
    for (auto& [size, line] : cells) {
      line.insert(line.begin(), print_quantity(size));
      table.add(line);
    }
    out += fmt::format("{}{}\n{}", out.empty() ? "" : "\n", title_of(series), table.text());
  }
  return out;
}

std::string algorithms_text(const std::vector<CollectiveRow>& rows) {
  std::string out;
  for (const Series& series : series_of(rows)) {
    Table table{{"size", "source", "algorithm", "protocol", "time [us]", "algbw [GB/s]", "busbw [GB/s]", "chosen"}};
    for (const std::size_t column : {1U, 2U, 3U}) table.align_left(column);
    for (const CollectiveRow* row : series.rows)
      table.add({print_quantity(row->size), row->source, row->algorithm, row->protocol, microseconds_text(row->seconds),
                 rate_text(algorithm_rate(*row)), rate_text(bus_rate(*row)), row->chosen ? "*" : ""});
    out += fmt::format("{}{}\n{}", out.empty() ? "" : "\n", title_of(series), table.text());
  }
  return out;
}

std::string measured_text(const std::vector<CollectiveRow>& rows) {
  const std::vector<std::string> sources = sources_of(rows);
  const bool fitted = std::ranges::any_of(rows, &CollectiveRow::for_fit);
  std::string out;
  for (const Series& series : series_of(rows)) {
    std::vector<std::string> titles{
        "size", "source", "measured [us]", "expected [us]", "deviation [%]", "measured busbw [GB/s]", "algorithm"};
    if (fitted) titles.emplace_back("used for the fit");
    Table table{titles};
    table.align_left(1);
    table.align_left(6);
    for (const CollectiveRow* row : series.rows) {
      CollectiveRow measured = *row;
      measured.seconds = *row->measured;
      std::vector<std::string> line{
          print_quantity(row->size),
          row->source,
          microseconds_text(*row->measured),
          microseconds_text(row->seconds),
          share_text(row->deviation()),
          rate_text(bus_rate(measured)),
          row->protocol.empty() ? row->algorithm : fmt::format("{} {}", row->algorithm, row->protocol)};
      if (fitted) line.emplace_back(row->for_fit ? "*" : "");
      table.add(line);
    }
    out +=
        fmt::format("{}{}\n{}{}", out.empty() ? "" : "\n", title_of(series), table.text(), medians_of(series, sources));
  }
  return out;
}

std::string collective_csv(const std::vector<CollectiveRow>& rows) {
  std::string out =
      "collective,servers,ranks,bytes,source,algorithm,protocol,chosen,time_us,algbw_gbs,busbw_gbs,measured_us,"
      "deviation,for_fit\n";
  for (const CollectiveRow& row : rows) {
    out += fmt::format("{},{},{},{},", to_string(row.exchange), row.servers, row.ranks, row.size.count());
    append_csv_field(out, row.source);
    out += fmt::format(",{},{},{},{},{},{},", row.algorithm, row.protocol, row.chosen ? 1 : 0, row.seconds * kMicro,
                       algorithm_rate(row), bus_rate(row));
    if (row.measured)
      out += fmt::format("{},{},{}\n", *row.measured * kMicro, row.deviation(), row.for_fit ? 1 : 0);
    else
      out += ",,\n";
  }
  return out;
}

std::string collective_json(const std::vector<CollectiveRow>& rows) {
  JsonWriter json;
  json.begin_array();
  for (const CollectiveRow& row : rows) {
    json.begin_object().member("collective", to_string(row.exchange)).member("servers", row.servers);
    json.member("ranks", row.ranks).member("bytes", row.size.count()).member("source", row.source);
    json.member("algorithm", row.algorithm).member("protocol", row.protocol).member("chosen", row.chosen);
    json.member("time_us", row.seconds * kMicro).member("algbw_gbs", algorithm_rate(row));
    json.member("busbw_gbs", bus_rate(row));
    if (row.measured) {
      json.member("measured_us", *row.measured * kMicro).member("deviation", row.deviation());
      json.member("for_fit", row.for_fit);
    }
    json.end_object();
  }
  json.end_array();
  return json.take();
}

std::string collective_svg(const std::vector<CollectiveRow>& rows) {
  using Key = std::tuple<TimedExchange, int, int, std::string, bool>;
  std::map<Key, std::map<Bytes, double>> curves;
  for (const CollectiveRow& row : rows) {
    if (!row.chosen) continue;
    curves[{row.exchange, row.servers, row.ranks, row.source, false}][row.size] = row.seconds;
    if (row.measured) curves[{row.exchange, row.servers, row.ranks, "measured", true}][row.size] = *row.measured;
  }
  std::vector<CollectiveCurve> drawn;
  for (const auto& [key, points] : curves) {
    const auto& [exchange, servers, ranks, source, measured] = key;
    CollectiveCurve curve;
    curve.name = fmt::format("{}, {} on {}", source, counted(ranks, "rank"), counted(servers, "server"));
    curve.exchange = exchange;
    curve.ranks = ranks;
    curve.measured = measured;
    for (const auto& [size, seconds] : points) {
      curve.bytes.push_back(size.to_double());
      curve.seconds.push_back(seconds);
    }
    drawn.push_back(std::move(curve));
  }
  return stacked_svg(collective_panels(drawn));
}

}  // namespace contend

#include "cli/calibrate_network_report.hpp"

#include "cli/text_table.hpp"
#include "text/json_writer.hpp"
#include "text/quantities.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr double kMicroseconds = 1e-3;

std::string ranks_text(int ranks) {
  return ranks == 0 ? "-" : fmt::format("{}", ranks);
}

std::string sizes_text(Bytes first, Bytes last) {
  return first == last ? print_quantity(first) : fmt::format("{}..{}", print_quantity(first), print_quantity(last));
}

std::string number_text(double value, double unit, int digits) {
  return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value * unit, digits);
}

std::string interval_text(const FittedNumber& number, double unit, int digits) {
  if (std::isnan(number.low) || std::isnan(number.high)) return "-";
  return fmt::format("{} to {}", number_text(number.low, unit, digits), number_text(number.high, unit, digits));
}

std::string per_cent(double share) {
  return number_text(share, 100, 1);
}

/// Decimals of times per byte, so that fast links show significant digits too.
int beta_digits(double smallest) {
  return smallest > 0 ? std::max(3, static_cast<int>(std::ceil(2 - std::log10(smallest)))) : 3;
}

/// A note on regions with a single size, which do not separate start-up from time per byte.
std::string one_size_text(const NetworkCalibration& calibration) {
  std::vector<const SeriesFit*> found;
  for (const SeriesFit& series : calibration.series)
    if (std::ranges::any_of(series.regions,
                            [](const LineRegion& each) { return each.one_size && each.last > Bytes{}; }))
      found.push_back(&series);
  if (found.empty()) return {};
  return fmt::format("a single size does not separate alpha from beta, so alpha is taken as 0: {}\n",
                     series_names(found));
}

std::string series_text(const NetworkCalibration& calibration) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const SeriesFit& series : calibration.series)
    for (const LineRegion& region : series.regions)
      if (region.beta.value > 0) smallest = std::min(smallest, region.beta.value);
  const int digits = beta_digits(smallest);
  Table table{{"collective", "ranks", "sizes", "alpha [us]", "95 %", "beta [ns/B]", "95 %", "points", "outliers",
               "median error [%]", "R^2"}};
  for (const SeriesFit& series : calibration.series) {
    for (const LineRegion& region : series.regions) {
      const FitQuality& quality = region.quality;
      const bool no_alpha = region.one_size && region.last > Bytes{};
      table.add(
          {std::string{to_string(series.exchange)}, ranks_text(series.ranks), sizes_text(region.first, region.last),
           no_alpha ? "-" : number_text(region.alpha.value, kMicroseconds, 1),
           interval_text(region.alpha, kMicroseconds, 1), number_text(region.beta.value, 1, digits),
           interval_text(region.beta, 1, digits), fmt::format("{}", quality.points),
           fmt::format("{}", quality.outliers), per_cent(quality.median_error), number_text(quality.r_squared, 1, 4)});
    }
  }
  return table.text() + one_size_text(calibration);
}

std::string link_text(const NetworkCalibration& calibration) {
  const LinkFit& link = *calibration.link;
  const int digits = beta_digits(link.beta.value);
  Table table{{"the link behind them", "fitted", "95 %"}};
  table.add(
      {"alpha [us]", number_text(link.alpha.value, kMicroseconds, 1), interval_text(link.alpha, kMicroseconds, 1)});
  table.add({"beta [ns/B]", number_text(link.beta.value, 1, digits), interval_text(link.beta, 1, digits)});
  if (link.gamma_status == GammaStatus::fitted)
    table.add({"gamma [ns/B]", number_text(link.gamma.value, 1, digits), interval_text(link.gamma, 1, digits)});
  std::string out = "\n" + table.text();
  out += fmt::format("{}: {} points, {} outliers, median error {}%: ", sizes_text(link.first, link.last),
                     link.quality.points, link.quality.outliers, per_cent(link.quality.median_error));
  for (std::size_t i = 0; i < link.series.size(); ++i) {
    const SeriesFit& series = calibration.series[link.series[i]];
    out += fmt::format("{}{} x{} {}%", i == 0 ? "" : ", ", to_string(series.exchange), series.ranks,
                       per_cent(link.median_errors[i]));
  }
  out += "\n";
  if (link.gamma_status == GammaStatus::inseparable)
    out +=
        "gamma cannot be separated from beta, because these collectives have both in the same proportion; beta "
        "includes it.\nLogs of another collective (an all-gather, single messages) would separate them\n";
  if (link.misfit())
    out += fmt::format(
        "one link and a ring do not describe these samples (separate lines: {}%), so the intervals are too narrow;\n-o "
        "FILE --workers N writes the costs of one all-reduce instead\n",
        per_cent(link.own_error));
  return out;
}

std::string contention_text(const NetworkCalibration& calibration) {
  Table table{{"several at once", "ranks", "size", "penalty", "95 %", "median error [%]", "times as long, by number"}};
  table.align_left(6);
  for (const ContentionFit& fit : calibration.contention) {
    std::string ratios;
    for (std::size_t i = 0; i < fit.jobs.size(); ++i)
      ratios += fmt::format("{}{}: {}", i == 0 ? "" : ", ", fit.jobs[i], number_text(fit.ratio[i], 1, 2));
    table.add({std::string{to_string(fit.exchange)}, ranks_text(fit.ranks), print_quantity(fit.size),
               number_text(fit.penalty.value, 1, 3), interval_text(fit.penalty, 1, 3),
               per_cent(fit.quality.median_error), ratios});
  }
  const FittedNumber& all = *calibration.penalty;
  const std::string interval = interval_text(all, 1, 3);
  return fmt::format("\n{}k at once take k + (k-1) penalty times as long for a byte: penalty {}{}\n", table.text(),
                     number_text(all.value, 1, 3), interval == "-" ? "" : fmt::format(" (95% {})", interval));
}

void write_number(JsonWriter& json, std::string_view name, const FittedNumber& number) {
  json.key(name).begin_object().member("value", number.value).member("low", number.low).member("high", number.high);
  json.end_object();
}

void write_quality(JsonWriter& json, const FitQuality& quality) {
  json.member("points", static_cast<std::int64_t>(quality.points));
  json.member("outliers", static_cast<std::int64_t>(quality.outliers));
  json.member("median_error", quality.median_error).member("r_squared", quality.r_squared);
}

void write_ranks(JsonWriter& json, int ranks) {
  json.key("ranks");
  if (ranks == 0)
    json.null();
  else
    json.value(ranks);
}

void write_series(JsonWriter& json, const SeriesFit& series) {
  json.begin_object().member("collective", to_string(series.exchange));
  write_ranks(json, series.ranks);
  json.key("regions").begin_array();
  for (const LineRegion& region : series.regions) {
    json.begin_object();
    json.member("first_bytes", region.first.count()).member("last_bytes", region.last.count());
    write_number(json, "alpha_ns", region.alpha);
    write_number(json, "beta_ns_per_byte", region.beta);
    json.member("one_size", region.one_size);
    write_quality(json, region.quality);
    json.end_object();
  }
  json.end_array().key("samples").begin_array();
  for (std::size_t i = 0; i < series.samples.size(); ++i) {
    json.begin_object().member("bytes", series.samples[i].size.count());
    json.member("time_ns", series.samples[i].time.ns()).member("fitted_ns", series.fitted[i]).end_object();
  }
  json.end_array().end_object();
}

void write_link(JsonWriter& json, const NetworkCalibration& calibration) {
  json.key("link");
  if (!calibration.link) {
    json.null();
    return;
  }
  const LinkFit& link = *calibration.link;
  json.begin_object().member("first_bytes", link.first.count()).member("last_bytes", link.last.count());
  write_number(json, "alpha_ns", link.alpha);
  write_number(json, "beta_ns_per_byte", link.beta);
  if (link.gamma_status == GammaStatus::fitted) write_number(json, "gamma_ns_per_byte", link.gamma);
  json.member("gamma", link.gamma_status == GammaStatus::fitted        ? "fitted"
                       : link.gamma_status == GammaStatus::inseparable ? "inseparable"
                                                                       : "absent");
  write_quality(json, link.quality);
  json.member("own_error", link.own_error).member("misfit", link.misfit());
  json.end_object();
}

void write_contention(JsonWriter& json, const NetworkCalibration& calibration) {
  json.key("contention").begin_array();
  for (const ContentionFit& fit : calibration.contention) {
    json.begin_object().member("collective", to_string(fit.exchange));
    write_ranks(json, fit.ranks);
    json.member("bytes", fit.size.count());
    write_number(json, "penalty", fit.penalty);
    json.key("at_once").begin_array();
    for (std::size_t i = 0; i < fit.jobs.size(); ++i) {
      json.begin_object().member("jobs", fit.jobs[i]).member("ratio", fit.ratio[i]);
      json.member("fitted_ratio", fit.fitted[i]).end_object();
    }
    json.end_array();
    write_quality(json, fit.quality);
    json.end_object();
  }
  json.end_array();
  if (calibration.penalty) write_number(json, "penalty", *calibration.penalty);
}

}  // namespace

std::string series_names(const std::vector<const SeriesFit*>& series) {
  std::string out;
  const SeriesFit* before = nullptr;
  for (const SeriesFit* each : series) {
    const std::string ranks = each->ranks == 0 ? "an unknown number" : fmt::format("{}", each->ranks);
    if (before != nullptr && before->exchange == each->exchange)
      out += fmt::format(", {}", ranks);
    else
      out += fmt::format("{}{} among {}", before == nullptr ? "" : "; ", to_string(each->exchange), ranks);
    before = each;
  }
  return out;
}

std::string calibration_text(const NetworkCalibration& calibration) {
  std::string out;
  if (!calibration.series.empty()) out += series_text(calibration);
  if (calibration.link) out += link_text(calibration);
  if (!calibration.contention.empty()) out += contention_text(calibration);
  return out;
}

std::string calibration_json(const NetworkCalibration& calibration) {
  JsonWriter json;
  json.begin_object().key("series").begin_array();
  for (const SeriesFit& series : calibration.series) write_series(json, series);
  json.end_array();
  write_link(json, calibration);
  write_contention(json, calibration);
  json.end_object();
  return json.take();
}

}  // namespace contend

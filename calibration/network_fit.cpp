#include "calibration/network_fit.hpp"

#include "calibration/size_regions.hpp"
#include "models/overlap/exchange_cost.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <tuple>

namespace contend {
namespace {

double nanoseconds(const CollectiveSample& sample) {
  return static_cast<double>(sample.time.ns());
}

double median_error(const std::vector<double>& residuals) {
  std::vector<double> sizes;
  for (const double each : residuals) sizes.push_back(std::abs(each));
  return percentile(std::move(sizes), 0.5);
}

FitQuality quality_of(const RobustFit& fit) {
  const auto far = [&](double residual) { return std::abs(residual) > std::max(kTukey * fit.deviation, 1e-9); };
  return {.points = fit.residuals.size(),
          .outliers = static_cast<std::size_t>(std::ranges::count_if(fit.residuals, far)),
          .median_error = median_error(fit.residuals),
          .r_squared = fit.r_squared};
}

struct FittedLine {
  LineRegion region;
  std::vector<double> fitted;
};

/// One line through samples in order of their sizes.
FittedLine line_through(std::span<const CollectiveSample> samples) {
  FittedLine line{.region = {.first = samples.front().size,
                             .last = samples.back().size,
                             .alpha = {},
                             .beta = {},
                             .one_size = samples.front().size == samples.back().size,
                             .quality = {}},
                  .fitted = {}};
  LineRegion& region = line.region;
  const bool empty = region.one_size && region.first == Bytes{};  // all start-up
  std::vector<double> matrix, times;
  for (const CollectiveSample& sample : samples) {
    if (!region.one_size) matrix.push_back(1);
    matrix.push_back(empty ? 1 : sample.size.to_double());
    times.push_back(nanoseconds(sample));
  }
  RobustFit fit = robust_fit(matrix, region.one_size ? 1 : 2, times);
  const FittedNumber unknown{0, kNaN, kNaN};
  region.alpha = region.one_size && !empty ? unknown : fit.coefficients.front();
  region.beta = empty ? unknown : fit.coefficients.back();
  region.quality = quality_of(fit);
  line.fitted = std::move(fit.fitted);
  return line;
}

void add_regions(SeriesFit& series, std::size_t regions) {
  std::ranges::stable_sort(series.samples, {}, &CollectiveSample::size);
  SizedTimes points;
  for (const CollectiveSample& sample : series.samples) {
    points.bytes.push_back(sample.size.to_double());
    points.times.push_back(nanoseconds(sample));
  }
  const std::vector<std::size_t> firsts = choose_regions(points, regions);
  for (std::size_t r = 0; r < firsts.size(); ++r) {
    const std::size_t end = r + 1 < firsts.size() ? firsts[r + 1] : series.samples.size();
    const FittedLine line = line_through(std::span{series.samples}.subspan(firsts[r], end - firsts[r]));
    series.regions.push_back(line.region);
    series.fitted.insert(series.fitted.end(), line.fitted.begin(), line.fitted.end());
  }
}

/// How often alpha, beta and gamma of the link are in the time of an exchange of one byte.
using LinkShares = std::array<double, 3>;

LinkShares link_shares(TimedExchange exchange, int ranks) {
  const std::optional<CollectiveKind> kind = collective_of(exchange);
  if (!kind) return {1, 1, 0};
  const auto cost = [&](double beta, double gamma) {
    const ChannelCost link{Time::nanoseconds(1), TimePerByte{beta}, TimePerByte{gamma}};
    return ExchangeCost::ring(ranks, link).of(*kind);
  };
  return {static_cast<double>(cost(0, 0).alpha.ns()), cost(1, 0).beta.ns_per_byte(), cost(0, 1).beta.ns_per_byte()};
}

bool tells_of_link(const SeriesFit& series) {
  switch (series.exchange) {
    case TimedExchange::broadcast:
    case TimedExchange::reduce:
      return false;
    case TimedExchange::message:
      return true;
    default:
      return series.ranks >= 2;
  }
}

/// The rows of all samples within first..last, and which series each is of.
struct LinkRows {
  std::vector<double> matrix, times;  ///< three columns
  std::vector<std::size_t> series;
  Bytes smallest{INT64_MAX}, largest;

  [[nodiscard]] std::vector<double> without_gamma() const {
    std::vector<double> two;
    for (std::size_t i = 0; i < times.size(); ++i) two.insert(two.end(), {matrix[3 * i], matrix[3 * i + 1]});
    return two;
  }
  [[nodiscard]] bool adds_up() const {
    for (std::size_t i = 0; i < times.size(); ++i)
      if (matrix[3 * i + 2] > 0) return true;
    return false;
  }
};

LinkRows link_rows(std::span<const SeriesFit> series, const LinkFit& link) {
  LinkRows rows;
  for (const std::size_t s : link.series) {
    const LinkShares shares = link_shares(series[s].exchange, series[s].ranks);
    for (const CollectiveSample& sample : series[s].samples) {
      if (sample.size < link.first || link.last < sample.size) continue;
      const double m = sample.size.to_double();
      rows.matrix.insert(rows.matrix.end(), {shares[0], shares[1] * m, shares[2] * m});
      rows.times.push_back(nanoseconds(sample));
      rows.series.push_back(s);
      rows.smallest = std::min(rows.smallest, sample.size);
      rows.largest = std::max(rows.largest, sample.size);
    }
  }
  return rows;
}

/// Median error of the fit for each series.
std::vector<double> errors_by_series(const LinkFit& link, const LinkRows& rows, const RobustFit& fit) {
  std::vector<double> errors;
  for (const std::size_t s : link.series) {
    std::vector<double> own;
    for (std::size_t i = 0; i < rows.series.size(); ++i)
      if (rows.series[i] == s) own.push_back(fit.residuals[i]);
    errors.push_back(own.empty() ? kNaN : median_error(own));
  }
  return errors;
}

/// The median error of the series' own lines over the samples of the link; lines through one or two points, which are
/// exact, are left out.
double error_of_lines(std::span<const SeriesFit> all, const LinkFit& link) {
  std::vector<double> residuals;
  for (const std::size_t s : link.series) {
    for (std::size_t i = 0; i < all[s].samples.size(); ++i) {
      const CollectiveSample& sample = all[s].samples[i];
      const auto of_it = [&](const LineRegion& region) { return sample.size <= region.last; };
      const bool tells = std::ranges::find_if(all[s].regions, of_it)->quality.points > 2;
      if (tells && link.first <= sample.size && sample.size <= link.last)
        residuals.push_back(nanoseconds(sample) / all[s].fitted[i] - 1);
    }
  }
  return residuals.empty() ? kNaN : median_error(residuals);
}

using ContentionKey = std::tuple<TimedExchange, int, Bytes>;

/// The start-up time of a series at a size, if its line gives one.
double known_alpha(std::span<const SeriesFit> series, const ContentionKey& key) {
  const auto [exchange, ranks, size] = key;
  for (const SeriesFit& each : series) {
    if (each.exchange != exchange || each.ranks != ranks) continue;
    for (const LineRegion& region : each.regions)
      if (region.first <= size && size <= region.last && !region.one_size) return region.alpha.value;
  }
  return 0;
}

/// C / A' - 1 with A' = A - alpha, and the interval that the covariance of the two gives.
FittedNumber penalty_of(const RobustFit& fit, double alpha) {
  const double a = fit.coefficients[0].value - alpha, c = fit.coefficients[1].value;
  const double by_a = -c / (a * a), by_c = 1 / a;
  const auto& v = fit.covariance;
  const double variance = by_a * by_a * v[0] + 2 * by_a * by_c * v[1] + by_c * by_c * v[3];
  const double half = fit.interval_factor() * std::sqrt(variance);
  const double value = c / a - 1;
  return {value, std::isnan(half) ? kNaN : std::max(-1.0, value - half), value + half};
}

ContentionFit fit_group(const ContentionKey& key, const std::vector<const CollectiveSample*>& samples, double alpha) {
  ContentionFit result{.exchange = std::get<0>(key),
                       .ranks = std::get<1>(key),
                       .size = std::get<2>(key),
                       .alpha = alpha,
                       .penalty = {},
                       .jobs = {},
                       .ratio = {},
                       .fitted = {},
                       .quality = {}};
  std::vector<double> matrix, times;
  std::map<int, std::vector<double>> by_jobs;
  for (const CollectiveSample* sample : samples) {
    matrix.insert(matrix.end(), {1.0, sample->jobs - 1.0});
    times.push_back(nanoseconds(*sample));
    by_jobs[sample->jobs].push_back(times.back());
  }
  const RobustFit fit = robust_fit(matrix, 2, times);
  if (!(fit.coefficients[0].value > alpha)) result.alpha = alpha = 0;
  result.penalty = penalty_of(fit, alpha);
  result.quality = quality_of(fit);
  const double alone = by_jobs.contains(1) ? mean(by_jobs[1]) : kNaN;
  for (const auto& [jobs, own] : by_jobs) {
    result.jobs.push_back(jobs);
    result.ratio.push_back(mean(own) / alone);
    result.fitted.push_back(1 + (jobs - 1) * fit.coefficients[1].value / fit.coefficients[0].value);
  }
  return result;
}

}  // namespace

std::vector<SeriesFit> fit_series(std::span<const CollectiveSample> samples, std::size_t regions) {
  std::map<std::pair<TimedExchange, int>, SeriesFit> by_key;
  for (const CollectiveSample& sample : samples) {
    if (sample.jobs != 1) continue;
    SeriesFit& series = by_key[{sample.exchange, sample.ranks}];
    series.exchange = sample.exchange;
    series.ranks = sample.ranks;
    series.samples.push_back(sample);
  }
  std::vector<SeriesFit> all;
  for (auto& [key, series] : by_key) {
    add_regions(series, regions);
    all.push_back(std::move(series));
  }
  return all;
}

std::optional<LinkFit> fit_link(std::span<const SeriesFit> series, Bytes first, Bytes last) {
  LinkFit link;
  link.first = first;
  link.last = last;
  for (std::size_t s = 0; s < series.size(); ++s)
    if (tells_of_link(series[s])) link.series.push_back(s);
  const LinkRows rows = link_rows(series, link);
  if (rows.times.empty()) return std::nullopt;
  link.first = rows.smallest;
  link.last = rows.largest;
  const bool adds_up = rows.adds_up();
  RobustFit fit;
  if (adds_up) fit = robust_fit(rows.matrix, 3, rows.times);
  if (!adds_up || fit.rank < 3) {
    link.gamma_status = adds_up ? GammaStatus::inseparable : GammaStatus::absent;
    fit = robust_fit(rows.without_gamma(), 2, rows.times);
    if (fit.rank < 2) return std::nullopt;
  }
  link.alpha = fit.coefficients[0];
  link.beta = fit.coefficients[1];
  link.gamma = fit.coefficients.size() > 2 ? fit.coefficients[2] : FittedNumber{0, kNaN, kNaN};
  link.quality = quality_of(fit);
  link.own_error = error_of_lines(series, link);
  link.median_errors = errors_by_series(link, rows, fit);
  return link;
}

std::vector<ContentionFit> fit_contention(std::span<const CollectiveSample> samples,
                                          std::span<const SeriesFit> series) {
  std::map<ContentionKey, std::vector<const CollectiveSample*>> groups;
  for (const CollectiveSample& sample : samples)
    groups[{sample.exchange, sample.ranks, sample.size}].push_back(&sample);
  std::vector<ContentionFit> fits;
  for (const auto& [key, group] : groups) {
    const int first = group.front()->jobs;
    const auto other = [first](const CollectiveSample* each) { return each->jobs != first; };
    if (std::ranges::any_of(group, other)) fits.push_back(fit_group(key, group, known_alpha(series, key)));
  }
  return fits;
}

FittedNumber common_penalty(std::span<const ContentionFit> fits) {
  if (fits.size() == 1) return fits.front().penalty;
  std::vector<double> values;
  for (const ContentionFit& fit : fits) values.push_back(fit.penalty.value);
  const Estimate all = estimate(values);
  return {all.mean, std::max(-1.0, all.mean - all.half_width), all.mean + all.half_width};
}

NetworkCalibration calibrate_network(std::span<const CollectiveSample> samples, const CalibrationChoice& choice) {
  NetworkCalibration all;
  all.series = fit_series(samples, choice.regions);
  std::size_t telling = 0;
  bool others = false;
  SizeRange range{Bytes{}, Bytes{}};
  for (const SeriesFit& series : all.series) {
    if (!tells_of_link(series)) continue;
    ++telling;
    others = others || series.exchange != TimedExchange::all_reduce;
    range.first = std::max(range.first, series.regions.back().first);
    range.last = std::max(range.last, series.regions.back().last);
  }
  if (telling > 1 || others) {
    range = choice.sizes.value_or(range);
    all.link = fit_link(all.series, range.first, range.last);
  }
  std::vector<CollectiveSample> together;
  for (const CollectiveSample& sample : samples)
    if (choice.at_once == 0 || sample.jobs <= choice.at_once) together.push_back(sample);
  all.contention = fit_contention(together, all.series);
  if (!all.contention.empty()) all.penalty = common_penalty(all.contention);
  return all;
}

std::optional<LineRegion> fit_line(const SeriesFit& series, SizeRange sizes) {
  std::vector<CollectiveSample> within;
  for (const CollectiveSample& sample : series.samples)
    if (sizes.first <= sample.size && sample.size <= sizes.last) within.push_back(sample);
  if (within.empty()) return std::nullopt;
  return line_through(within).region;
}

}  // namespace contend

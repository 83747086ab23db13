#include "scenarios/study/network_fragment.hpp"

#include "scenarios/scenario.hpp"
#include "sim/error.hpp"
#include "text/quantities.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace contend {
namespace {

/// Rounds to five digits, which is more than any fit determines.
TimePerByte rounded(double ns_per_byte) {
  if (!(ns_per_byte > 0)) return {};
  const double unit = std::pow(10, std::floor(std::log10(ns_per_byte)) - 4);
  return TimePerByte{std::round(ns_per_byte / unit) * unit};
}

/// A number in ns/B with five digits.
std::string per_byte_text(double ns_per_byte) {
  const double value = rounded(ns_per_byte).ns_per_byte();
  if (value >= 1e-4 && value < 1e4) return fmt::format("{:.5g}ns/B", value);
  // In this range {:.5g} would write an exponent, which quantities do not allow.
  return value >= 1e-9 && value < 1 ? fmt::format("{:.13f}ns/B", value) : print_quantity(TimePerByte{value});
}

std::string time_text(double ns) {
  return fmt::format("{:.1f}us", ns / 1000);
}

std::string interval_text(std::string_view name, const FittedNumber& number, std::string (*text)(double)) {
  if (std::isnan(number.low) || std::isnan(number.high)) return fmt::format("{}: too few points", name);
  return fmt::format("{} {} to {}", name, text(number.low), text(number.high));
}

std::string sizes_text(Bytes first, Bytes last) {
  return first == last ? print_quantity(first) : fmt::format("{} to {}", print_quantity(first), print_quantity(last));
}

std::string quality_text(const FitQuality& quality) {
  if (quality.points == 1) return "a single sample";
  return fmt::format("{} points, {} of them outliers, median error {:.1f}%", quality.points, quality.outliers,
                     100 * quality.median_error);
}

/// The parts of the fragment, in the order in which they are written.
struct Costs {
  std::string says;
  std::vector<std::string> comments;
  std::vector<std::string> notes;  ///< the comments that apply only to these costs
  double alpha = 0, beta = 0;
  std::vector<std::string> network;  ///< keys below `network`, besides alpha and beta
  std::vector<std::string> overlap;  ///< keys below `overlap`
};

std::string fitted_bytes_key(Bytes first, Bytes last) {
  return fmt::format("fitted_bytes: [{}, {}]", print_quantity(first), print_quantity(last));
}

/// The numbers of ranks behind the samples of a link; a message is between two ranks.
std::string link_ranks(const NetworkCalibration& calibration) {
  std::set<int> ranks;
  const LinkFit& link = *calibration.link;
  for (std::size_t i = 0; i < link.series.size(); ++i) {
    const SeriesFit& series = calibration.series[link.series[i]];
    if (!std::isnan(link.median_errors[i])) ranks.insert(series.exchange == TimedExchange::message ? 2 : series.ranks);
  }
  return fmt::format("fitted_workers: [{}]", fmt::join(ranks, ", "));
}

Costs link_costs(const NetworkCalibration& calibration) {
  const LinkFit& link = *calibration.link;
  Costs costs;
  costs.says = fmt::format("the link behind rings, fitted to {}", sizes_text(link.first, link.last));
  costs.comments = {quality_text(link.quality), "95% intervals: " + interval_text("alpha", link.alpha, time_text) +
                                                    ", " + interval_text("beta", link.beta, per_byte_text)};
  costs.alpha = link.alpha.value;
  costs.beta = link.beta.value;
  costs.network = {"formula: ring", link_ranks(calibration), fitted_bytes_key(link.first, link.last)};
  if (link.gamma_status == GammaStatus::fitted) {
    costs.comments.back() += ", " + interval_text("gamma", link.gamma, per_byte_text);
    costs.network.push_back("gamma: " + per_byte_text(link.gamma.value));
  } else if (link.gamma_status == GammaStatus::inseparable) {
    costs.comments.emplace_back("these collectives do not separate gamma from beta, which includes it");
  }
  if (link.misfit())
    costs.comments.push_back(fmt::format(
        "one link and a ring do not describe these samples (separate lines: {:.1f}%), so the intervals are too narrow",
        100 * link.own_error));
  return costs;
}

[[noreturn]] void refuse(const NetworkCalibration& calibration, const std::string& reason) {
  std::string there;
  for (const SeriesFit& series : calibration.series)
    there += fmt::format("{}{} among {}", there.empty() ? "" : ", ", to_string(series.exchange),
                         series.ranks == 0 ? "an unknown number of ranks" : fmt::format("{}", series.ranks));
  throw InputError{
      fmt::format("no scenario can be written: {}; the logs have {}", reason, there.empty() ? "none" : there)};
}

const SeriesFit& chosen_all_reduce(const NetworkCalibration& calibration, int ranks) {
  std::vector<const SeriesFit*> found;
  for (const SeriesFit& series : calibration.series)
    if (series.exchange == TimedExchange::all_reduce && (ranks == 0 || series.ranks == ranks)) found.push_back(&series);
  if (found.size() == 1) return *found.front();
  if (found.empty())
    refuse(calibration, ranks == 0 ? "it needs an all-reduce" : fmt::format("no all-reduce among {} ranks", ranks));
  refuse(calibration, "there are several all-reduces; choose one by --workers N");
}

void add_note(Costs& costs, std::string note) {
  costs.notes.push_back(note);
  costs.comments.push_back(std::move(note));
}

Costs whole_costs(const NetworkCalibration& calibration, const FragmentChoice& choice) {
  const SeriesFit& series = chosen_all_reduce(calibration, choice.ranks);
  const std::optional<LineRegion> line =
      choice.sizes ? fit_line(series, *choice.sizes) : std::optional{series.regions.back()};
  if (!line) refuse(calibration, "no samples of the chosen sizes");
  Costs costs;
  const std::string among = series.ranks == 0 ? "" : fmt::format(" among {} ranks", series.ranks);
  costs.says = fmt::format("the whole all-reduce{}, fitted to {}", among, sizes_text(line->first, line->last));
  if (!choice.sizes && series.regions.size() > 1)
    costs.says += fmt::format(", the last of {} regions", series.regions.size());
  costs.comments = {quality_text(line->quality), "95% intervals: " + interval_text("alpha", line->alpha, time_text) +
                                                     ", " + interval_text("beta", line->beta, per_byte_text)};
  if (line->one_size && line->last > Bytes{}) {
    costs.comments.emplace_back("a single size does not separate alpha from beta, so alpha is taken as 0");
    // Of a region the calibration says it.
    if (choice.sizes) costs.notes.push_back(costs.comments.back());
  }
  costs.alpha = line->alpha.value;
  costs.beta = line->beta.value;
  costs.network.emplace_back("formula: measured");
  costs.network.push_back(fitted_bytes_key(line->first, line->last));
  if (series.ranks == 0 && choice.study == FragmentStudy::overlap)
    add_note(costs,
             "the logs do not give the number of ranks (--ranks N), so a study of any number of workers gets these "
             "costs without a warning");
  if (series.ranks < 2) return costs;
  costs.network.push_back(fmt::format("fitted_workers: [{}]", series.ranks));
  costs.overlap.push_back(fmt::format("workers: [{}]", series.ranks));
  return costs;
}

/// Adds the key of contention.
void add_penalty(Costs& costs, const FittedNumber& penalty) {
  constexpr double kLeast = -1;  // of the key: any number at once take as long as one
  const auto plain = [](double number) { return fmt::format("{:.3f}", number); };
  costs.comments.push_back(fmt::format(
      "k at once take k + (k-1) penalty times as long for a byte: penalty {}{}", plain(penalty.value),
      std::isnan(penalty.low) ? std::string{}
                              : fmt::format(", 95% interval {} to {}", plain(penalty.low), plain(penalty.high))));
  costs.network.push_back("contention_penalty: " + plain(std::max(penalty.value, kLeast)));
}

/// The key of the factors, with three digits.
std::string interference_key(const MeasuredInterference& measured) {
  return fmt::format("interference: {{compute: {:.3f}, network: {:.3f}}}", measured.compute, measured.network);
}

std::string interference_text(const MeasuredInterference& measured) {
  return fmt::format("interference: medians of {} operations, each beside reductions of {} blocks on its GPU",
                     measured.pairs.size(), measured.blocks);
}

std::string head_of(std::span<const std::string> provenance) {
  std::string out = "# Costs of a network by `contend calibrate network`, to be included in a scenario.\n";
  for (const std::string& line : provenance) out += "# " + line + "\n";
  return out;
}

}  // namespace

NetworkFragment interference_fragment(const FragmentChoice& choice, std::span<const std::string> provenance) {
  std::string out = head_of(provenance);
  out += fmt::format("# {}\nschema_version: {}\nnetwork:\n  {}\n", interference_text(*choice.interference),
                     kSchemaVersion, interference_key(*choice.interference));
  return {std::move(out), interference_text(*choice.interference), {}};
}

NetworkFragment network_fragment(const NetworkCalibration& calibration, const FragmentChoice& choice,
                                 std::span<const std::string> provenance) {
  const bool whole = choice.study == FragmentStudy::jobs || choice.ranks > 0 || !calibration.link;
  Costs costs = whole ? whole_costs(calibration, choice) : link_costs(calibration);
  // A scenario's transfers take time.
  if (!(rounded(costs.beta).ns_per_byte() > 0))
    refuse(calibration, costs.says + ": the time does not grow with the size");
  if (choice.study == FragmentStudy::jobs)
    add_note(costs, "every job gets these costs, whatever its number of workers");
  if (calibration.penalty) add_penalty(costs, *calibration.penalty);
  std::vector<std::string> network{fmt::format("alpha: {}us", std::round(costs.alpha) / 1000),
                                   fmt::format("beta: {}", per_byte_text(costs.beta))};
  network.insert(network.end(), costs.network.begin(), costs.network.end());

  if (choice.interference) {
    network.push_back(interference_key(*choice.interference));
    costs.comments.push_back(interference_text(*choice.interference));
  }

  std::string out = head_of(provenance);
  out += fmt::format("# t = alpha + beta m of {}\n", costs.says);
  for (const std::string& line : costs.comments) out += "# " + line + "\n";
  out += fmt::format("schema_version: {}\nnetwork:\n  {}\n", kSchemaVersion, fmt::join(network, "\n  "));
  if (choice.study == FragmentStudy::overlap && !costs.overlap.empty())
    out += fmt::format("overlap:\n  {}\n", fmt::join(costs.overlap, "\n  "));
  return {std::move(out), std::move(costs.says), std::move(costs.notes)};
}

}  // namespace contend

#include "report/fabric_figures.hpp"

#include "report/sweep_names.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::size_t kShownLinks = 8, kShownUsers = 4;          // of the figure over time
constexpr std::size_t kShownSufferers = 32, kShownColumns = 24;  // of the figures of delays
constexpr std::size_t kMostColumns = 250;

/// Sums by name, the largest first, ties by name.
std::vector<std::pair<std::string, double>> by_size(const std::map<std::string, double>& sums) {
  std::vector<std::pair<std::string, double>> sorted(sums.begin(), sums.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

/// A row of fabric_delays.csv, with what the job lost as a share of its time on GPUs.
struct Delay {
  std::string job, by, link;
  double lost_s, share;
};

std::vector<Delay> delays_of(const RunFolder& folder, const RunFolder::Run& run) {
  std::map<std::string, double> held;
  const PackedColumn& names = folder.jobs.texts("job_id");
  const std::vector<double> held_s = folder.jobs.numbers("held_s");
  for (const std::size_t row : folder.rows_of(folder.jobs, run)) held[std::string{names[row]}] = held_s[row];
  const ColumnTable& table = *folder.delays;
  const PackedColumn &jobs = table.texts("job_id"), &by = table.texts("by_job"), &links = table.texts("link");
  const std::vector<double> lost = table.numbers("lost_s");
  std::vector<Delay> delays;
  for (const std::size_t row : folder.rows_of(table, run)) {
    std::string job{jobs[row]};
    const double time = held[job];
    delays.push_back(
        {std::move(job), std::string{by[row]}, std::string{links[row]}, lost[row], time > 0 ? lost[row] / time : 0});
  }
  return delays;
}

/// Rows: the jobs of `sufferers`. Columns: the jobs in their way or the links (`column`) to which these lose most, and
/// what is left together.
template <class ColumnOf>
Figure delay_map(std::string id, std::string title, const char* columns, const std::vector<Delay>& delays,
                 std::span<const JobDelay> sufferers, std::size_t all, const ColumnOf& column) {
  std::map<std::string, std::size_t> row_of, column_of;
  for (const JobDelay& each : sufferers) row_of.emplace(each.job, row_of.size());
  std::map<std::string, double> sums;
  for (const Delay& each : delays)
    if (row_of.contains(each.job)) sums[column(each)] += each.share;
  const auto sorted = by_size(sums);
  const bool has_rest = sorted.size() > kShownColumns;
  HeatMap map;
  map.x.title = columns;
  map.y.title = "job";
  map.value_title = "of its time on GPUs";
  map.value_unit = "share";
  for (std::size_t i = 0; i < std::min(sorted.size(), kShownColumns); ++i) {
    column_of.emplace(sorted[i].first, i);
    map.x.categories.push_back(sorted[i].first);
  }
  if (has_rest) map.x.categories.push_back(fmt::format("{} others", sorted.size() - kShownColumns));
  for (const JobDelay& each : sufferers) map.y.categories.push_back(each.job);
  map.columns = map.x.categories.size();
  map.values.assign(map.columns * sufferers.size(), std::numeric_limits<double>::quiet_NaN());
  for (const Delay& each : delays) {
    const auto row = row_of.find(each.job);
    if (row == row_of.end()) continue;
    const auto shown = column_of.find(column(each));
    const std::size_t at = shown == column_of.end() ? kShownColumns : shown->second;
    double& value = map.values[row->second * map.columns + at];
    value = (std::isnan(value) ? 0 : value) + each.share;
  }
  for (const double value : map.values)
    if (!std::isnan(value)) map.high = std::max(map.high, value);
  return {
      .id = std::move(id),
      .title = std::move(title),
      .caption = fmt::format("Time by which the bytes of a job's transfers took longer than alone, over its time on "
                             "GPUs, for the {} of {} jobs that lost the largest share. What a job computes meanwhile "
                             "may hide it; transfers at once are added up.",
                             sufferers.size(), all),
      .plot = std::move(map)};
}

}  // namespace

std::optional<Figure> link_shares(const RunFolder& folder, const RunFolder::Run& run, const Replay& replay) {
  const NetworkReport& fabric = replay.fabric;
  const Time end = replay.end;
  std::vector<std::size_t> links(fabric.links.size());
  std::iota(links.begin(), links.end(), std::size_t{0});
  std::erase_if(links, [&](std::size_t link) { return fabric.links[link].users.size() < 2; });
  std::ranges::stable_sort(
      links, [&](std::size_t a, std::size_t b) { return fabric.links[a].utilisation > fabric.links[b].utilisation; });
  const std::size_t shared = links.size();
  links.resize(std::min(shared, kShownLinks));
  if (links.empty() || replay.link_uses.empty()) return std::nullopt;
  const std::vector<std::size_t> jobs = folder.rows_of(folder.jobs, run);  // by JobId
  const PackedColumn& names = folder.jobs.texts("job_id");

  HeatMap map;
  map.x = {.title = "time", .unit = "s", .categories = {}};
  map.y.title = "link and job";
  map.value_title = "of the link";
  map.value_unit = "share";
  map.high = 1;
  const auto intervals = static_cast<std::size_t>((end.ns() + fabric.interval.ns() - 1) / fabric.interval.ns());
  const std::size_t fold = 1 + intervals / kMostColumns;
  map.columns = (intervals + fold - 1) / fold;
  map.x_step = (fabric.interval * static_cast<std::int64_t>(fold)).to_seconds();
  std::map<std::pair<std::size_t, JobId>, std::size_t> row_of;
  for (const std::size_t link : links) {
    const std::vector<FabricLinkResult::User>& users = fabric.links[link].users;
    const bool has_rest = users.size() > kShownUsers + 1;
    for (std::size_t u = 0; u < users.size(); ++u) {
      if (!has_rest || u <= kShownUsers) {
        const bool is_rest = has_rest && u == kShownUsers;
        map.y.categories.push_back(fmt::format("{} {}", fabric.links[link].name,
                                               is_rest ? fmt::format("{} others", users.size() - kShownUsers)
                                                       : std::string{names[jobs[users[u].job.index()]]}));
      }
      row_of[{link, users[u].job}] = map.y.categories.size() - 1;
    }
  }
  map.values.assign(map.y.categories.size() * map.columns, 0.0);
  for (const LinkUseSample& sample : replay.link_uses) {
    const auto row = row_of.find({sample.link, sample.job});
    const auto column = static_cast<std::size_t>(sample.start.ns() / fabric.interval.ns()) / fold;
    if (row == row_of.end() || column >= map.columns) continue;
    const std::size_t together = std::min(fold, intervals - column * fold);  // fewer in the last column
    map.values[row->second * map.columns + column] += sample.utilisation / static_cast<double>(together);
  }
  const double step = map.x_step;
  return Figure{
      .id = "link-shares",
      .title = "Who fills the busiest links",
      .caption = fmt::format(
          "Bytes of a job over what the link could have carried, averaged over {}: the {} busiest of {} links "
          "that several jobs used, and of each the {} jobs that sent most over it.",
          time_text(step), links.size(), shared, kShownUsers),
      .plot = std::move(map)};
}

std::vector<JobDelay> job_delays(const RunFolder& folder, const RunFolder::Run& run) {
  std::map<std::string, JobDelay> by_job;
  for (const Delay& each : delays_of(folder, run)) {
    JobDelay& job = by_job[each.job];
    job.job = each.job;
    job.lost_s += each.lost_s;
    job.share += each.share;
    if (each.lost_s <= job.most_lost_s) continue;
    job.most_lost_s = each.lost_s;
    job.most_share = each.share;
    job.by = each.by;
    job.link = each.link;
  }
  std::vector<JobDelay> all;
  for (auto& [name, job] : by_job)
    if (job.lost_s > 0) all.push_back(std::move(job));
  std::ranges::stable_sort(all, [](const JobDelay& a, const JobDelay& b) { return a.share > b.share; });
  return all;
}

std::vector<Figure> delay_figures(const RunFolder& folder, const RunFolder::Run& run) {
  const std::vector<Delay> delays = delays_of(folder, run);
  const std::vector<JobDelay> all = job_delays(folder, run);
  if (all.empty()) return {};
  const std::span<const JobDelay> shown{all.data(), std::min(all.size(), kShownSufferers)};
  std::vector<Figure> figures;
  figures.push_back(delay_map("delays-by-job", "Which jobs lose time to which in the network", "job in the way", delays,
                              shown, all.size(), [](const Delay& each) { return each.by; }));
  figures.push_back(delay_map("delays-by-link", "Where jobs lose time in the network", "link", delays, shown,
                              all.size(), [](const Delay& each) { return each.link; }));
  return figures;
}

}  // namespace contend

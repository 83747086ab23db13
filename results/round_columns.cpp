// The columns of rounds.csv.

#include "results/result_columns.hpp"

#include <cstdint>

namespace contend {
namespace {

constexpr Column<RoundRow> kRoundColumns[] = {
    {"job_id", "text", [](const RoundRow& r) { return Cell{r.job}; }},
    {"round", "integer", [](const RoundRow& r) { return Cell{r.number}; }},
    {"begin_s", "seconds", [](const RoundRow& r) { return Cell{r.round.begin}; }},
    {"end_s", "seconds", [](const RoundRow& r) { return Cell{r.round.end}; }},
    {"version", "integer", [](const RoundRow& r) { return Cell{std::int64_t{r.round.has_version ? 1 : 0}}; }},
    {"asked", "integer", [](const RoundRow& r) { return Cell{r.round.asked}; }},
    {"updates", "integer", [](const RoundRow& r) { return Cell{r.round.updates}; }},
    {"lost", "integer", [](const RoundRow& r) { return Cell{r.round.lost}; }},
    {"staleness_mean", "number",
     [](const RoundRow& r) {
       if (r.round.updates == 0) return Cell{};
       return Cell{static_cast<double>(r.round.staleness_sum) / static_cast<double>(r.round.updates)};
     }},
    {"staleness_max", "integer", [](const RoundRow& r) { return Cell{r.round.staleness_max}; }},
    {"down_bytes", "integer", [](const RoundRow& r) { return Cell{r.round.down.count()}; }},
    {"up_bytes", "integer", [](const RoundRow& r) { return Cell{r.round.up.count()}; }},
    {"dropped_bytes", "integer", [](const RoundRow& r) { return Cell{r.round.dropped.count()}; }},
};

}  // namespace

std::span<const Column<RoundRow>> round_columns() {
  return kRoundColumns;
}

}  // namespace contend

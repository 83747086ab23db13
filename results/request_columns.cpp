// The columns of requests.csv.

#include "results/result_columns.hpp"

#include <cmath>
#include <cstddef>

namespace contend {
namespace {

/// By RequestWait.
constexpr const char* kRequestWaits[] = {"", "batch", "tokens", "memory"};

/// The time from the arrival to this one, if that has come.
Cell since_arrival(const RequestRow& row, Time time) {
  return time == Time::never() ? Cell{} : Cell{time - row.request.arrival};
}
Cell time_of_request(Time time) {
  return time == Time::never() ? Cell{} : Cell{time};
}
Cell time_of_tokens(const RequestResult& request) {
  if (!request.has_ended() || request.answer < 2) return {};
  return Cell{Time::nanoseconds(std::llround(request.tpot_s() * 1e9))};
}
Cell limit_of(const RequestResult& request) {
  if (request.waited_for == RequestWait::none) return {};
  return Cell{std::string{kRequestWaits[static_cast<std::size_t>(request.waited_for)]}};
}

constexpr Column<RequestRow> kRequestColumns[] = {
    {"job_id", "text", [](const RequestRow& r) { return Cell{r.job}; }},
    {"request", "integer", [](const RequestRow& r) { return Cell{r.number}; }},
    {"arrival_s", "seconds", [](const RequestRow& r) { return Cell{r.request.arrival}; }},
    {"prompt", "integer", [](const RequestRow& r) { return Cell{r.request.prompt}; }},
    {"answer", "integer", [](const RequestRow& r) { return Cell{r.request.answer}; }},
    {"first_s", "seconds", [](const RequestRow& r) { return time_of_request(r.request.first); }},
    {"end_s", "seconds", [](const RequestRow& r) { return time_of_request(r.request.end); }},
    {"ttft_s", "seconds", [](const RequestRow& r) { return since_arrival(r, r.request.first); }},
    {"tpot_s", "seconds", [](const RequestRow& r) { return time_of_tokens(r.request); }},
    {"waited_s", "seconds", [](const RequestRow& r) { return since_arrival(r, r.request.admitted); }},
    {"waited_for", "text", [](const RequestRow& r) { return limit_of(r.request); }},
    {"evictions", "integer", [](const RequestRow& r) { return Cell{std::int64_t{r.request.evictions}}; }},
    {"replica", "integer",
     [](const RequestRow& r) { return r.request.replica < 0 ? Cell{} : Cell{std::int64_t{r.request.replica}}; }},
};

}  // namespace

std::span<const Column<RequestRow>> request_columns() {
  return kRequestColumns;
}

}  // namespace contend

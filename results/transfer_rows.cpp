#include "results/transfer_rows.hpp"

#include "sim/check.hpp"
#include "text/csv.hpp"
#include "text/decimal.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

namespace contend {

namespace {

/// As format_seconds(), for millions of rows.
void append_seconds(std::string& out, Time time) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  constexpr std::size_t kDigits = 9;
  const std::int64_t ns = time.ns();
  if (ns < 0) {
    out += format_seconds(time);
    return;
  }
  const fmt::format_int whole{ns / kSecond};
  out.append(whole.data(), whole.size());
  std::int64_t part = ns % kSecond;
  if (part == 0) return;
  std::array<char, kDigits + 1> digits{'.'};
  for (std::size_t i = kDigits; i > 0; --i, part /= 10) digits[i] = static_cast<char>('0' + part % 10);
  const std::string_view text{digits.data(), digits.size()};
  out += text.substr(0, text.find_last_not_of('0') + 1);
}

/// Servers as ranges, ascending: 0-3 8.
std::string ranges_of(std::vector<ServerId> servers) {
  std::ranges::sort(servers);
  std::string text;
  for (std::size_t i = 0, next = 0; i < servers.size(); i = next) {
    for (next = i + 1; next < servers.size() && servers[next].value() == servers[next - 1].value() + 1;) ++next;
    fmt::format_to(std::back_inserter(text), "{}{}", i > 0 ? " " : "", servers[i].value());
    if (next > i + 1) fmt::format_to(std::back_inserter(text), "-{}", servers[next - 1].value());
  }
  return text;
}

std::string_view name_of(LoggedRoute::Lane lane) {
  switch (lane) {
    case LoggedRoute::Lane::links:
      return "links";
    case LoggedRoute::Lane::interfaces:
      return "interfaces";
    case LoggedRoute::Lane::pulls:
      return "pulls";
    case LoggedRoute::Lane::inside:
      return "inside";
  }
  check_failed(__FILE__, __LINE__, "a lane", "unknown");
}

}  // namespace

std::string_view transfers_header() {
  return "replica,event,number,starts_s,ends_s,rates,bytes,job_id,servers,links,text\n";
}

TransferRows::TransferRows(std::uint64_t seed, std::span<const JobSpec> jobs)
    : begin_{fmt::format("{},", seed)}, repeated_(jobs.size()) {
  for (const JobSpec& job : jobs) {
    names_.emplace_back();
    append_csv_field(names_.back(), job.name);
  }
}

void TransferRows::begin_row(std::string_view event, std::size_t number) {
  rows_ += begin_;
  rows_ += event;
  rows_ += ',';
  const fmt::format_int digits{number};
  rows_.append(digits.data(), digits.size());
  rows_ += ',';
}

void TransferRows::add(double number) {
  fmt::format_to(std::back_inserter(rows_), "{}", number);
}

void TransferRows::link(std::size_t link, double capacity, std::span<const double> factors, double penalty) {
  begin_row("link", link);
  fmt::format_to(std::back_inserter(rows_), ",,{},,,,,", capacity);
  for (std::size_t i = 0; i < factors.size(); ++i)
    fmt::format_to(std::back_inserter(rows_), "{}{}", i == 0 ? "factors=" : ";", factors[i]);
  if (penalty != 0) fmt::format_to(std::back_inserter(rows_), "{}penalty={}", factors.empty() ? "" : " ", penalty);
  rows_ += '\n';
}

std::size_t TransferRows::route(const LoggedRoute& route) {
  begin_row("route", routes_);
  append_seconds(rows_, route.start_up);
  rows_ += ",,";
  if (route.alone > 0) add(route.alone);
  rows_ += ',';
  add(route.bytes);
  rows_ += ',';
  rows_ += names_[route.job.index()];
  rows_ += ',';
  rows_ += ranges_of(route.servers);
  rows_ += ',';
  bool is_next = false;
  for (const LoggedRoute::Use& use : route.uses) {
    if (std::exchange(is_next, true)) rows_ += ' ';
    fmt::format_to(std::back_inserter(rows_), "{}", use.link);
    if (use.share != 1) fmt::format_to(std::back_inserter(rows_), ":{}", use.share);
  }
  fmt::format_to(std::back_inserter(rows_), ",lane={}", name_of(route.lane));
  if (!route.is_first) rows_ += " follows=1";
  if (route.is_first && route.message != route.bytes)
    fmt::format_to(std::back_inserter(rows_), " message={}", route.message);
  if (route.penalty != 0) fmt::format_to(std::back_inserter(rows_), " penalty={}", route.penalty);
  if (route.cap > 0) fmt::format_to(std::back_inserter(rows_), " cap={}", route.cap);
  if (route.priority != 0) fmt::format_to(std::back_inserter(rows_), " priority={}", route.priority);
  if (route.lane == LoggedRoute::Lane::inside && route.among.valid())
    fmt::format_to(std::back_inserter(rows_), " gpu={}", route.among.value());
  rows_ += '\n';
  return routes_++;
}

void TransferRows::begins(TransferId transfer, std::size_t route, Time now, double bytes) {
  if (parts_.size() <= transfer.index()) parts_.resize(transfer.index() + 1);
  Part& part = parts_[transfer.index()];
  CONTEND_DCHECK(!part.is_open, "a transfer has one open part at a time");
  part.is_open = true;
  part.route = route;
  part.since = now;
  part.bytes = bytes;
  part.rates.clear();
}

bool TransferRows::is_open(TransferId transfer) const {
  return transfer.index() < parts_.size() && parts_[transfer.index()].is_open;
}

void TransferRows::sends(TransferId transfer, Time now, double rate) {
  auto& rates = parts_[transfer.index()].rates;
  if (!rates.empty() && rates.back().first == now) rates.pop_back();
  if (rates.empty() || rates.back().second != rate) rates.emplace_back(now, rate);
}

void TransferRows::ends(TransferId transfer, Time now, End how) {
  Part& part = parts_[transfer.index()];
  if (!part.is_open) return;
  add(part, now, how == End::sent ? "" : how == End::cancelled ? "cancelled" : "moved");
  part.is_open = false;
}

void TransferRows::add(const Part& part, Time end, std::string_view how) {
  begin_row("sends", part.route);
  append_seconds(rows_, part.since);
  rows_ += ',';
  append_seconds(rows_, end);
  rows_ += ',';
  for (std::size_t i = 0; i < part.rates.size(); ++i) {
    const auto& [at, rate] = part.rates[i];
    if (i > 0) rows_ += ' ';
    if (at != part.since) {
      append_seconds(rows_, at);
      rows_ += '=';
    }
    if (rate != last_rate_) {
      last_rate_ = rate;
      last_text_ = fmt::format("{}", rate);
    }
    rows_ += last_text_;
  }
  rows_ += ',';
  if (part.bytes > 0) add(part.bytes);
  rows_ += ",,,,";
  rows_ += how;
  rows_ += '\n';
}

void TransferRows::changes(std::size_t link, Time now, double capacity) {
  begin_row("changes", link);
  append_seconds(rows_, now);
  fmt::format_to(std::back_inserter(rows_), ",,{},,,,,\n", capacity);
}

std::string TransferRows::repetition(JobId job, const Repetition& each) {
  return fmt::format("{}repeats,{},{},{},,,{},,,\n", begin_, each.times, format_seconds(each.from),
                     format_seconds(each.to), names_[job.index()]);
}

void TransferRows::repeats(JobId job, Time from, Time to, std::int64_t times) {
  Repetition& last = repeated_[job.index()];
  std::string text;
  if (times > 0) {
    last = {rows_.size(), 0, from, to, times};
    text = repetition(job, last);
    rows_ += text;
  } else {
    last.times += times;
    text = repetition(job, last);
    text.insert(text.size() - 1, last.length - std::min(last.length, text.size()), ' ');  // others keep their places
    rows_.replace(last.row, last.length, text);
  }
  last.length = text.size();
}

std::string TransferRows::take(Time end) {
  for (const Part& part : parts_)
    if (part.is_open) add(part, end, "goes on");
  return std::exchange(rows_, {});
}

}  // namespace contend

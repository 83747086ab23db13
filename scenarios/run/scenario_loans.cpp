#include "scenarios/run/scenario_loans.hpp"

#include "sim/portable_math.hpp"
#include "traces/loan_list.hpp"

#include <cmath>

namespace contend {

LoanSpec loan_spec(const LoanSetup& loans) {
  LoanSpec spec;
  spec.servers = loans.servers;
  if (!spec.any()) return spec;
  spec.reclaim = loans.reclaim;
  const auto headroom = std::llround(loans.headroom * 1e9);
  if (loans.events) {
    spec.period = loans.period.value_or(Time::never());
    spec.changes = read_loan_list(*loans.events, loans.servers, headroom, spec.period);
    return spec;
  }
  spec.period = loans.period.value_or(Time::seconds(86'400));
  const double middle = (loans.high + loans.low) / 2, swing = (loans.high - loans.low) / 2;
  for (Time at; at < spec.period; at += loans.every) {
    const double turns = static_cast<double>((at - loans.high_at).ns()) / static_cast<double>(spec.period.ns());
    const double load = middle + swing * portable_cos_of_turns(turns);
    const int lent = lent_at_load(loans.servers, std::llround(load * 1e9), headroom);
    if (spec.changes.empty() || spec.changes.back().lent != lent) spec.changes.push_back({at, lent});
  }
  return spec;
}

}  // namespace contend

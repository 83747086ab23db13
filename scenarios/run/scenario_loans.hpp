#pragma once
// The schedule of the servers that are lent to the cluster of a scenario (sim/loans.hpp).

#include "scenarios/spec/loan_setup.hpp"
#include "sim/loans.hpp"

namespace contend {

/// Reads `loans.events`, or follows the law of the load: (high + low) / 2 + (high - low) / 2 cos(2 pi (t - high_at) /
/// period), at multiples of `every`. A load keeps that part of the servers, and the headroom, with their owner; of the
/// rest whole servers are lent. Throws InputError with every bad row.
[[nodiscard]] LoanSpec loan_spec(const LoanSetup& loans);

}  // namespace contend

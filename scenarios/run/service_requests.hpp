#pragma once
// The requests of a job: a table, or drawn by laws.

#include "models/serving/request.hpp"
#include "models/serving/request_laws.hpp"
#include "scenarios/spec/serving_entry.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace contend {

/// The law of a setup.
[[nodiscard]] LengthLaw length_law(const LengthSetup& setup);

struct RequestList {
  std::vector<ServedRequest> requests;  ///< by arrival, which counts from the submission of the job; at least one
  int first_line = 1;                   ///< of a table, in which each request has a line
};

/// The requests of a job. Draws have streams by seed, entry and job. Throws InputError with the rows that can't
/// be, or if no request comes.
[[nodiscard]] RequestList requests_of(const ServingEntry& entry, std::uint64_t seed, std::string_view job);

}  // namespace contend

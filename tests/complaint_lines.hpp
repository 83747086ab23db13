#pragma once
// What a call complains of, as one text.

#include "sim/error.hpp"

#include <string>

namespace contend {

/// The complaints of the InputError that `call` throws, a line each; empty if it throws none.
template <class Call>
[[nodiscard]] std::string complaint_lines(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    std::string all;
    for (const Complaint& each : error.complaints()) all += each.format() + "\n";
    return all;
  }
  return {};
}

}  // namespace contend

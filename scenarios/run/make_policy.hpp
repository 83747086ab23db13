#pragma once
// Creates the policy that a scenario names.

#include "policies/registry.hpp"
#include "scenarios/scenario.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

#include <memory>
#include <span>
#include <vector>

namespace contend {

/// `choice` must name a policy of the table; every choice of a scenario that was read does.
template <class Port>
[[nodiscard]] std::unique_ptr<Port> make_policy(std::span<const PolicyRow<Port>> table, const PolicyChoice& choice,
                                                const PolicyContext& context) {
  for (const PolicyRow<Port>& row : table) {
    if (row.name == choice.name) return make_from(row, choice.parameters, context);
  }
  check_failed(__FILE__, __LINE__, "a scenario names policies of the tables", choice.name);
}

/// What is wrong with the parameters of the scheduling policy together, by their keys; the parameters of a program
/// outside are checked when the program starts.
[[nodiscard]] std::vector<Complaint> scheduling_complaints(const PolicyChoice& scheduling);

}  // namespace contend

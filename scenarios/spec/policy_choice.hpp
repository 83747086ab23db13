#pragma once
// Which policies decide, as a scenario chooses them.

#include "policies/registry.hpp"

#include <string>

namespace contend {

/// A policy and all its parameters.
struct PolicyChoice {
  std::string name;
  Parameters parameters;  ///< complete: every parameter of the policy has a value
};
[[nodiscard]] inline bool same_choice(const PolicyChoice& a, const PolicyChoice& b) {
  return a.name == b.name && a.parameters.values() == b.parameters.values();
}

}  // namespace contend

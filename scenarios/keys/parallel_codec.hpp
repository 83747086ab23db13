#pragma once
// The member `parallel` of an entry of `training`.

#include "scenarios/scenario.hpp"
#include "scenarios/yaml/codecs.hpp"

#include <optional>
#include <string>
#include <vector>

namespace contend {

/// A later layer replaces single members.
[[nodiscard]] Codec<std::optional<ParallelSetup>> parallel_codec();

/// The members, for the reference: name, type, range, text, usual value.
struct ParallelMember {
  std::string name, type, range, text, usual;
};
[[nodiscard]] std::vector<ParallelMember> parallel_members();

}  // namespace contend

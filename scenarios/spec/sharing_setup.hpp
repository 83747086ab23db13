#pragma once
// Jobs with a duration that share GPUs.

#include <cstdint>
#include <optional>
#include <string>

namespace contend {

/// How fast jobs with a duration are that share a GPU (models/sharing.hpp).
enum class SharingKind : std::uint8_t { none, factor, pairs, stages };

/// Jobs with a duration that share GPUs (`scheduling.sharing.*`).
struct SharingSetup {
  SharingKind law = SharingKind::none;
  int most = 2;
  double factor = 2;
  std::optional<std::string> pairs, profiles;  ///< paths of tables
  bool by_priority = false;
};

}  // namespace contend

#pragma once
// Names and sentences that the text and the JSON of `contend explain` share.

#include "cli/explain_report.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// A reason for which GPUs are out of service: its name, and the words for such GPUs.
struct OutWords {
  const char *name, *text;
};
/// `reason`: an OutReason, below kOutReasons.
[[nodiscard]] OutWords out_words(std::size_t reason);

/// 3: third.
[[nodiscard]] std::string ordinal(std::size_t place);

/// The delays of the job in the network.
[[nodiscard]] std::vector<SharedDelay> delays_of(const ExplainReport& report);
/// The times for which others shared its GPUs, the longest first.
[[nodiscard]] std::vector<SharedTime> sharing_of(const ExplainReport& report);

/// The name of a type of servers; -1: of all GPUs.
[[nodiscard]] const std::string& server_type_name(const ExplainReport& report, std::int32_t type);
/// The reason for the wait.
[[nodiscard]] std::string wait_cause(const ExplainReport& report, const WaitInterval& wait);

}  // namespace contend

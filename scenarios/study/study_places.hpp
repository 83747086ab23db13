#pragma once
// What shows only when a study of one iteration runs, told where the key stands that it stems from.

#include "scenarios/scenario.hpp"
#include "sim/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// `reason` at the place of `key` (such as `overlap.batch`); if that isn't given, in the file that gives the study.
[[nodiscard]] Complaint study_complaint(const IterationStudy& study, std::string_view key, std::string reason,
                                        std::string hint = {});

/// Complaints of an InputError: those about a line of a file stay as they are, those about a whole file go to the key
/// that names the file or contradicts it, all others to `key`.
[[nodiscard]] std::vector<Complaint> placed(const IterationStudy& study, std::string_view key,
                                            std::vector<Complaint> complaints);

/// The list that names what can't work with the rest of the study: methods of compression, or of fusion if nothing is
/// compressed.
[[nodiscard]] std::string_view refusing_key(const IterationStudy& study);

}  // namespace contend

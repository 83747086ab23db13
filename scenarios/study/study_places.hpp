#pragma once
// Reports run-time errors of an iteration study at the YAML location of the key that caused them.

#include "scenarios/scenario.hpp"
#include "sim/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// The key of a member of the studied entry: `training.NAME.batch`.
[[nodiscard]] std::string entry_key(const IterationStudy& study, std::string_view member);

/// The complaint `reason` at the place of `key` (such as `overlap.fusion`); if the key is not given, at the whole that
/// it is a part of, or at the file that contains the study.
[[nodiscard]] Complaint study_complaint(const IterationStudy& study, std::string_view key, std::string reason,
                                        std::string hint = {});

/// Moves the complaints of an InputError to scenario keys: complaints about a line of a file stay; those about a whole
/// file move to the key that names the file or contradicts it; all others move to `key`.
[[nodiscard]] std::vector<Complaint> placed(const IterationStudy& study, std::string_view key,
                                            std::vector<Complaint> complaints);

/// The key whose list contains the policies that a study can refuse: the compression methods, or the fusion policies if
/// nothing is compressed.
[[nodiscard]] std::string_view refusing_key(const IterationStudy& study);

}  // namespace contend

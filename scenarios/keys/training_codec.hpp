#pragma once
// The value of the key `training`: a map of names to entries, which jobs name as what they train.

#include "scenarios/scenario.hpp"
#include "scenarios/yaml/codecs.hpp"
#include "scenarios/yaml/map_codec.hpp"

#include <string_view>
#include <vector>

namespace contend {

/// A later layer replaces single members of an entry and adds entries. Members that no layer gives have their usual
/// values until take_defaults().
[[nodiscard]] Codec<std::vector<TrainingEntry>> training_codec();
/// Gives all entries the members of the entry `default` that they don't give themselves, and then what follows from
/// others (`as_framework`).
void take_defaults(std::vector<TrainingEntry>& entries);

/// The number format in which frameworks train the entry on its device: of transformers that are spread over GPUs the
/// format of two bytes that the tensor cores of the device have, else the entry's own.
[[nodiscard]] DataType framework_type(const TrainingEntry& entry);

/// The entry with the members that a job's model has of its own (variant_of()), and without those that say otherwise
/// what these say: `accumulate` has no place beside a `global_batch` of its own. Throws InputError with the complaints
/// about the members.
[[nodiscard]] TrainingEntry variant_entry(const TrainingEntry& base, std::string_view model);

/// The members of an entry, for the reference.
[[nodiscard]] std::vector<MemberText> training_members();

}  // namespace contend

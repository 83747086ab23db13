#pragma once
// Models in front of a language model, which make vectors out of images or sound.

#include "models/parallel/transformer.hpp"
#include "text/file_complaints.hpp"
#include "text/json_reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Adds the towers that the configuration `whole` of an architecture describes to a model. The fields of towers that
/// the table does not know are added to `unknown`.
void read_towers(const JsonValue& whole, std::string_view architecture, TransformerModel& model,
                 std::vector<std::string>& unknown, FileComplaints& complaints);

}  // namespace contend

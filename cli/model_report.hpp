#pragma once
// Prints what a transformer is: the pattern of its layers, its parameters, its work and its cache.

#include "traces/layers/config_json.hpp"

#include <cstdint>
#include <string>

namespace contend {

/// The model of a `config.json`, or of the catalogue. Throws InputError for what is neither, and as read_config().
[[nodiscard]] TransformerConfig named_model(const std::string& name_or_file, const std::string& as);

/// The pattern of the layers, a row for each kind of layer, and figures of the whole model; flops are of sequences of
/// so many tokens. With `as_json` the text is JSON: `show-model` of docs/schema/output.schema.json.
[[nodiscard]] std::string model_report(const TransformerConfig& config, std::int64_t sequence, bool as_json);

}  // namespace contend

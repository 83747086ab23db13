#pragma once
// Reads the configuration of a transformer as Hugging Face Transformers writes it (`config.json` beside the weights).
//
// Read are the fields that decide on parameters and work. Sizes must be there; flags that are missing, and sizes that
// are null, have the defaults of that library. All other fields are left out, such as those of generation, of rotary
// scaling or of initialisation. Fields that would change the work but are not modelled, such as a sliding window of
// attention, are errors and not left out.

#include "models/parallel/transformer.hpp"
#include "text/byte_source.hpp"

#include <string>

namespace contend {

/// Reads a configuration; the model has the name `name` and the source `file`. Throws InputError with every fault and
/// its line: no JSON object, an architecture that is not supported, a field that is missing, of the wrong kind or out
/// of range, fields that contradict each other, and what validate(TransformerModel) refuses.
[[nodiscard]] TransformerModel parse_transformer_config(ByteSource& source, const std::string& file,
                                                        const std::string& name);

/// The same for a file, plain or compressed. The name is that of the file's folder, or of the file if it is not called
/// config.json.
[[nodiscard]] TransformerModel read_transformer_config(const std::string& path);

}  // namespace contend

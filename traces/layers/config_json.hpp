#pragma once
// Reads the configuration of a transformer as Hugging Face Transformers writes it (`config.json` beside the weights).
//
// It is read by its fields, whatever they are called (config_families.txt has their names and what the name of an
// architecture implies). Sizes must be there; flags that are missing, and sizes that are null, have the defaults of
// that library. Fields that decide on neither parameters nor work are left out, such as fields of generation or of
// rotary scaling. A file whose architecture is not known is read if all its fields are. `Infinity` and `NaN`, which
// Python writes, stand for null.

#include "models/parallel/transformer.hpp"
#include "text/byte_source.hpp"

#include <string>
#include <vector>

namespace contend {

/// What a configuration says.
struct TransformerConfig {
  TransformerModel model;
  std::string architecture;          ///< as which it was read
  std::vector<std::string> unknown;  ///< fields that were not understood
  std::string note;                  ///< what was assumed of an architecture that is not known; empty if it is
};

/// Reads a configuration; the model has the name `name` and the source `file`. `as` is the architecture as which it is
/// read, whatever it calls itself and whatever fields it has beside; empty: its own. Throws InputError with every fault
/// and its line: no JSON object, a field that is missing, of the wrong kind or out of range, an architecture that is
/// not known with fields that are not, fields that contradict each other, and what validate(TransformerModel) refuses.
[[nodiscard]] TransformerConfig parse_config(ByteSource& source, const std::string& file, const std::string& name,
                                             const std::string& as = {});
/// Only the model.
[[nodiscard]] TransformerModel parse_transformer_config(ByteSource& source, const std::string& file,
                                                        const std::string& name);

/// The same for a file, plain or compressed. The name is the name of the file's folder, or of the file if it is not
/// called config.json.
[[nodiscard]] TransformerConfig read_config(const std::string& path, const std::string& as = {});
[[nodiscard]] TransformerModel read_transformer_config(const std::string& path);

}  // namespace contend

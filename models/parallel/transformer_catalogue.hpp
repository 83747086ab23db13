#pragma once
// The transformers that ship, by name, such as `llama-3-70b` or `deepseek-v3`.

#include "models/parallel/transformer.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// All of them, in order of family and size. Each is valid and has the number of parameters that its source states.
[[nodiscard]] std::span<const TransformerModel> transformers();
/// The one of that name, or nullptr.
[[nodiscard]] const TransformerModel* find_transformer(std::string_view name);
[[nodiscard]] std::vector<std::string> transformer_names();
/// The text of transformers.txt.
[[nodiscard]] std::string_view transformers_text();

}  // namespace contend

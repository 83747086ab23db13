#pragma once
// Builds parts of messages: lists of names, and suggestions for misspelt ones.

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// The words with the separator between them.
[[nodiscard]] std::string join(const std::vector<std::string>& words, std::string_view separator = ", ");
/// `did you mean "servers"?` with the name nearest to `word`; empty if none is near enough.
[[nodiscard]] std::string did_you_mean(const std::string& word, const std::vector<std::string>& names);

}  // namespace contend

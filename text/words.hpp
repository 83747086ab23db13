#pragma once
// Words in messages: lists of names and suggestions.

#include <string>
#include <string_view>
#include <vector>

namespace contend {

[[nodiscard]] std::string join(const std::vector<std::string>& words, std::string_view separator = ", ");
/// `did you mean "servers"?`, or empty if none of the names is near enough.
[[nodiscard]] std::string did_you_mean(const std::string& word, const std::vector<std::string>& names);

}  // namespace contend

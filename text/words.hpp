#pragma once
// Builds parts of messages: lists of names, and suggestions for misspelt ones.

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// The words with the separator between them.
[[nodiscard]] std::string join(const std::vector<std::string>& words, std::string_view separator = ", ");
/// The reason why a name can't be printed as it is: it is blank, it holds a control character, or it is not UTF-8. An
/// empty text if it can.
[[nodiscard]] std::string why_not_printable(std::string_view name);
/// True if the texts are equal but for the case of ASCII letters.
[[nodiscard]] bool same_but_for_case(std::string_view a, std::string_view b);
/// `did you mean "servers"?` with the names that begin with `word`, whatever the case, if they are few, else with the
/// one nearest to it; empty if none is near enough.
[[nodiscard]] std::string did_you_mean(const std::string& word, const std::vector<std::string>& names);

/// A time as people say it, in two or three digits: `340 ms`, `45 s`, `51 min`, `3.5 h`, `12 d`.
[[nodiscard]] std::string spoken_time(double seconds);

}  // namespace contend

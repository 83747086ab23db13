#pragma once
// Words that other programs and papers have for what scenarios say, and the hints that follow from them.

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A hint for an unknown key, where keys of these `names` are possible, each after `prefix` (empty, or ending in a
/// dot): the key that other programs call `word`, else the one nearest to it. Empty if there is none.
[[nodiscard]] std::string hint_for_key(const std::string& word, const std::vector<std::string>& names,
                                       std::string_view prefix = {});

/// The same for those who look for near names elsewhere: without the nearest name.
[[nodiscard]] std::string usual_word_hint(std::string_view word, const std::vector<std::string>& names,
                                          std::string_view prefix = {});

/// The policies of a kind (`scheduling`) that other programs call `word`, by their names; empty if none is known.
[[nodiscard]] std::vector<std::string> policies_called(std::string_view kind, std::string_view word);

/// The text of usual_words.csv: a word of other programs, and the key that it means where keys that begin with the
/// first part of this key are possible. A hint stands in place of the question whether the key is meant.
[[nodiscard]] std::string_view usual_words();
/// The text of called_policies.csv.
[[nodiscard]] std::string_view called_policies();

}  // namespace contend

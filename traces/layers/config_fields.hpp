#pragma once
// The fields of a configuration by the words of config_families.txt: what the file says, and where it does not, what
// the name of its architecture implies.

#include "text/file_complaints.hpp"
#include "text/json_reader.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// The text of config_families.txt.
[[nodiscard]] std::string_view config_families_text();

/// What an architecture implies: values by word.
using ConfigTraits = std::map<std::string_view, std::string_view>;
/// Of `kind` (`family`, `tower`) and name; nullptr if the table has none.
[[nodiscard]] const ConfigTraits* config_traits(std::string_view kind, std::string_view name);
/// The names of all families, in order of the alphabet.
[[nodiscard]] std::vector<std::string> config_family_names();

/// The number, if it is one that a double has.
[[nodiscard]] std::optional<double> real_number_of(const JsonValue& value);

/// Takes fields out of an object by their words in a list of names. It notes faults, with the places of the fields.
class ConfigFields {
 public:
  /// `names` is an entry of `names`: sizes or tower. Fields that `object` lacks are looked for in `outer`.
  ConfigFields(const JsonValue& object, const JsonValue* outer, std::string_view names, const ConfigTraits& traits,
               FileComplaints& complaints);

  /// The value, unless it is missing or null.
  [[nodiscard]] const JsonValue* find(std::string_view word) const;
  /// The name of the field that the file has for the word, or its usual name.
  [[nodiscard]] std::string name_of(std::string_view word) const;
  [[nodiscard]] bool has(std::string_view word) const { return find(word) != nullptr; }
  /// True if the file says null.
  [[nodiscard]] bool is_null(std::string_view word) const;

  /// A whole number from `least` to 2^32 that the file must have, unless the architecture implies it.
  [[nodiscard]] std::int64_t whole(std::string_view word, std::int64_t least = 1);
  /// A whole number from 1 to 2^20 that the file must have, unless the architecture implies it.
  [[nodiscard]] std::int64_t heads(std::string_view word);
  [[nodiscard]] std::int64_t whole_or(std::string_view word, std::int64_t otherwise, std::int64_t least = 1);
  [[nodiscard]] double number_or(std::string_view word, double otherwise);
  /// True or false; a number is true if it is not 0.
  [[nodiscard]] bool truth_or(std::string_view word, bool otherwise);
  [[nodiscard]] std::string text_or(std::string_view word, std::string otherwise);
  /// An array of `count` whole numbers, or of texts. Another length is a fault; nothing if there is no such field.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> numbers(std::string_view word,
                                                                 std::optional<std::size_t> count = {});
  [[nodiscard]] std::optional<std::vector<std::string>> texts(std::string_view word, std::size_t count);

  /// What the architecture implies, whatever the file says.
  [[nodiscard]] std::int64_t trait(std::string_view word, std::int64_t otherwise = 0) const;
  [[nodiscard]] std::string_view text_trait(std::string_view word) const;

  void refuse(std::string_view word, std::string reason, std::string hint = {});
  /// False if a field had a fault, so that the model is not what the file means.
  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] TextPlace place(std::string_view word) const;

  /// The fields that no list of the table has, but for those that are null, false, 0 or empty.
  [[nodiscard]] std::vector<std::string> unknown() const;

 private:
  struct Found {
    const JsonValue* value = nullptr;
    std::string name;
  };
  [[nodiscard]] Found found(std::string_view word) const;
  std::int64_t read(std::string_view word, const JsonValue& value, std::int64_t least);
  void wrong_kind(std::string_view word, const JsonValue& value, std::string_view wanted);
  [[nodiscard]] const JsonValue* sized_array(std::string_view word, std::optional<std::size_t> count);

  const JsonValue& object_;
  const JsonValue* outer_;
  std::string_view names_;
  const ConfigTraits& traits_;
  FileComplaints& complaints_;
  bool complete_ = true;
};

}  // namespace contend

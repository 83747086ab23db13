#pragma once
// What members of a training entry can't be combined with, and why: one table for all entries, of which the reference
// page is a print. What depends on jobs, on a network or on numbers that a message names is checked where these are
// known.

#include "scenarios/spec/training_entry.hpp"

#include <span>
#include <string>
#include <string_view>

namespace contend {

/// An entry with what is known of it beside its members.
struct RuledEntry {
  const TrainingEntry& entry;
  bool compresses = false;  ///< a method compresses its gradients: its own, or one of a study
  /// Members of the default entry count as given, too. An entry can't help having these: a rule that is broken only
  /// because of them is a note, not a complaint.
  bool with_inherited = false;

  [[nodiscard]] bool spreads() const { return entry.parallel.has_value(); }
  [[nodiscard]] bool gives(std::string_view member) const {
    return with_inherited ? entry.says(member) : entry.given.contains(member);
  }
  /// The same for a member of `parallel`.
  [[nodiscard]] bool gives_parallel(std::string_view member) const {
    return entry.parallel && entry.parallel->given.contains(member);
  }
};

/// A rule says one of four things about its member.
enum class RuleKind : unsigned char {
  without,  ///< it has no effect without `reason`
  beside,   ///< it has no effect with `reason`
  idle,     ///< it has no effect, because of `reason`
  refused,  ///< `reason` is why it can't be there
};
struct MemberRule {
  std::string_view member;  ///< such as `fusion`, or `parallel.zero`
  RuleKind kind = RuleKind::refused;
  std::string_view reason;
  std::string_view hint;  ///< what would be right; may be empty
  bool (*is_broken)(const RuledEntry&) = nullptr;

  [[nodiscard]] std::string text() const;
};
[[nodiscard]] std::span<const MemberRule> member_rules();

/// The rules as a table of the reference page of a scenario.
[[nodiscard]] std::string member_rules_markdown();

}  // namespace contend

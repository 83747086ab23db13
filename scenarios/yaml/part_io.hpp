#pragma once
// How a part of something larger, such as a key of a scenario or a member of a training entry, is read, printed and
// described. All code that reads, prints and copies is made once for each type of value, whatever the number of parts.

#include "scenarios/yaml/codecs.hpp"

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// One object for each part, and one class for each type of value, so that the rows of tables are data.
template <class Owner>
class PartIo {
 public:
  PartIo() = default;
  PartIo(const PartIo&) = delete;
  PartIo& operator=(const PartIo&) = delete;
  virtual ~PartIo() = default;

  /// Writes the members of the JSON Schema of a value.
  virtual void schema(JsonWriter& json) const = 0;
  /// Stores the value of a node, or reports why it cannot.
  virtual void read(const YamlNode& node, const Reading& reading, Owner& owner) const = 0;
  virtual void copy(const Owner& from, Owner& to) const = 0;
  /// The value as YAML on one line; empty if there is none and no word for that.
  [[nodiscard]] virtual std::string print(const Owner& owner) const = 0;
  /// The value, or a part of it, as Codec::plain and Codec::part have it.
  [[nodiscard]] virtual std::optional<PlainValue> plain(const Owner& owner, PartNames apart) const = 0;
  [[nodiscard]] virtual std::optional<PlainValue> part(const Owner& owner, std::string_view name) const = 0;
  /// Shows the paths of the files that the value names, as Codec::paths has them.
  virtual void visit_paths(Owner& owner, const PathVisitor& visit) const = 0;

  std::string type;          ///< for people: `integer`, `time`
  std::string range;         ///< for people, or empty
  bool is_optional = false;  ///< there may be no value
  std::string_view unset;    ///< the word for "no value", or empty
};

/// A part whose values are of type T. Access has value(const Owner&), the value or a reference to it, and
/// change(Owner&, function), which lets the function change it.
template <class Owner, class T, class Access>
class CodecIo final : public PartIo<Owner> {
 public:
  CodecIo(Access access, Codec<T> codec) : access_{access}, codec_{std::move(codec)} {
    this->type = codec_.type;
    this->range = codec_.range;
    this->is_optional = codec_.is_optional;
    this->unset = codec_.unset;
  }
  void schema(JsonWriter& json) const override { codec_.schema(json); }
  void read(const YamlNode& node, const Reading& reading, Owner& owner) const override {
    access_.change(owner, [&](T& value) { codec_.read(node, reading, value); });
  }
  void copy(const Owner& from, Owner& to) const override {
    access_.change(to, [&](T& value) { value = access_.value(from); });
  }
  [[nodiscard]] std::string print(const Owner& owner) const override { return codec_.print(access_.value(owner)); }
  [[nodiscard]] std::optional<PlainValue> plain(const Owner& owner, PartNames apart) const override {
    return plain_value(codec_, access_.value(owner), apart);
  }
  [[nodiscard]] std::optional<PlainValue> part(const Owner& owner, std::string_view name) const override {
    return codec_.part ? codec_.part(access_.value(owner), name) : std::nullopt;
  }
  void visit_paths(Owner& owner, const PathVisitor& visit) const override {
    if (codec_.paths) access_.change(owner, [&](T& value) { codec_.paths(value, visit); });
  }

 private:
  Access access_;
  Codec<T> codec_;
};

/// A member of the owner, or of a base of it.
template <class Owner, class T>
struct PointerAccess {
  T Owner::*member;

  [[nodiscard]] const T& value(const Owner& owner) const { return owner.*member; }
  template <class Change>
  void change(Owner& owner, const Change& change) const {
    change(owner.*member);
  }
};

/// A member of the owner, or of a member.
template <class Owner, class T>
struct MemberAccess {
  T& (*member)(Owner&);
  const T& (*value)(const Owner&);

  template <class Change>
  void change(Owner& owner, const Change& change) const {
    change(member(owner));
  }
};

/// The owner itself.
template <class Owner>
struct WholeAccess {
  [[nodiscard]] const Owner& value(const Owner& owner) const { return owner; }
  template <class Change>
  void change(Owner& owner, const Change& change) const {
    change(owner);
  }
};

/// What is taken from the owner by one function and put into it by another.
template <class Owner, class T>
struct PropertyAccess {
  T (*value)(const Owner&);
  void (*set)(Owner&, T);

  template <class Change>
  void change(Owner& owner, const Change& change) const {
    T changed = value(owner);
    change(changed);
    set(owner, std::move(changed));
  }
};

/// Makes a unique pointer: make_shared() would have the compiler generate one more class for each type of value.
template <class Owner, class T, class Access>
std::unique_ptr<const PartIo<Owner>> part_io(Access access, Codec<T> codec) {
  return std::make_unique<const CodecIo<Owner, T, Access>>(access, std::move(codec));
}

/// `Member` captures nothing and returns a reference to a member, const if the owner is.
template <class Owner, class T, class Member>
MemberAccess<Owner, T> member_access(Member) {
  // clang 14 converts no generic lambda that returns auto& to a pointer to a function.
  return {[](Owner& owner) -> T& { return Member{}(owner); },
          [](const Owner& owner) -> const T& { return Member{}(owner); }};
}

/// The rows of the parts of a table, in their order.
template <class Row>
[[nodiscard]] std::vector<Row> table_of(std::initializer_list<std::vector<Row> (*)()> parts) {
  std::vector<Row> all;
  for (const auto part : parts)
    for (Row& row : part()) all.push_back(std::move(row));
  return all;
}

}  // namespace contend

#pragma once
// How a part of something larger, such as a key of a scenario or a member of a training entry, is read, printed and
// described. All code that reads, prints and copies is made once for each type of value and once for each type of
// owner, whatever the number of parts: a part adds one function that finds its value.

#include "scenarios/yaml/codecs.hpp"

#include <bit>
#include <cstdint>
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

  /// Takes the words for people from a codec.
  template <class T>
  void describe(const Codec<T>& codec) {
    type = codec.type;
    range = codec.range;
    is_optional = codec.is_optional;
    unset = codec.unset;
  }

  std::string type;          ///< for people: `integer`, `time`
  std::string range;         ///< for people, or empty
  bool is_optional = false;  ///< there may be no value
  std::string_view unset;    ///< the word for "no value", or empty
};

/// Values of one type, whatever they are parts of. The untyped pointers are like MemberIo's: to such values.
class ValueIo {
 public:
  ValueIo() = default;
  ValueIo(const ValueIo&) = delete;
  ValueIo& operator=(const ValueIo&) = delete;
  virtual ~ValueIo() = default;

  virtual void schema(JsonWriter& json) const = 0;
  virtual void read(const YamlNode& node, const Reading& reading, void* value) const = 0;
  virtual void copy(const void* from, void* to) const = 0;
  [[nodiscard]] virtual std::string print(const void* value) const = 0;
  [[nodiscard]] virtual std::optional<PlainValue> plain(const void* value, PartNames apart) const = 0;
  [[nodiscard]] virtual std::optional<PlainValue> part(const void* value, std::string_view name) const = 0;
  virtual void visit_paths(void* value, const PathVisitor& visit) const = 0;
};

template <class T>
class CodecIo final : public ValueIo {
 public:
  explicit CodecIo(Codec<T> codec) : codec_{std::move(codec)} {}
  void schema(JsonWriter& json) const override { codec_.schema(json); }
  void read(const YamlNode& node, const Reading& reading, void* value) const override {
    codec_.read(node, reading, *static_cast<T*>(value));
  }
  void copy(const void* from, void* to) const override { *static_cast<T*>(to) = *static_cast<const T*>(from); }
  [[nodiscard]] std::string print(const void* value) const override {
    return codec_.print(*static_cast<const T*>(value));
  }
  [[nodiscard]] std::optional<PlainValue> plain(const void* value, PartNames apart) const override {
    return plain_value(codec_, *static_cast<const T*>(value), apart);
  }
  [[nodiscard]] std::optional<PlainValue> part(const void* value, std::string_view name) const override {
    return codec_.part ? codec_.part(*static_cast<const T*>(value), name) : std::nullopt;
  }
  void visit_paths(void* value, const PathVisitor& visit) const override {
    if (codec_.paths) codec_.paths(*static_cast<T*>(value), visit);
  }

 private:
  Codec<T> codec_;
};

/// A part that lies in its owner.
template <class Owner>
class MemberIo final : public PartIo<Owner> {
 public:
  /// The address of the value in an owner. `which` says which member, for functions that find more than one.
  using Find = void* (*)(Owner& owner, std::intptr_t which);

  template <class T>
  MemberIo(Find find, std::intptr_t which, Codec<T> codec) : find_{find}, which_{which} {
    this->describe(codec);
    value_.reset(new CodecIo<T>{std::move(codec)});
  }
  void schema(JsonWriter& json) const override { value_->schema(json); }
  void read(const YamlNode& node, const Reading& reading, Owner& owner) const override {
    value_->read(node, reading, at(owner));
  }
  void copy(const Owner& from, Owner& to) const override { value_->copy(at(from), at(to)); }
  [[nodiscard]] std::string print(const Owner& owner) const override { return value_->print(at(owner)); }
  [[nodiscard]] std::optional<PlainValue> plain(const Owner& owner, PartNames apart) const override {
    return value_->plain(at(owner), apart);
  }
  [[nodiscard]] std::optional<PlainValue> part(const Owner& owner, std::string_view name) const override {
    return value_->part(at(owner), name);
  }
  void visit_paths(Owner& owner, const PathVisitor& visit) const override { value_->visit_paths(at(owner), visit); }

 private:
  [[nodiscard]] void* at(Owner& owner) const { return find_(owner, which_); }
  [[nodiscard]] const void* at(const Owner& owner) const { return find_(const_cast<Owner&>(owner), which_); }

  Find find_;
  std::intptr_t which_;
  std::unique_ptr<const ValueIo> value_;
};

/// A part that is taken from its owner by one function and put into it by another.
template <class Owner, class T>
class PropertyIo final : public PartIo<Owner> {
 public:
  using Get = T (*)(const Owner&);
  using Set = void (*)(Owner&, T);

  PropertyIo(Get get, Set set, Codec<T> codec) : get_{get}, set_{set}, codec_{std::move(codec)} {
    this->describe(codec_);
  }
  void schema(JsonWriter& json) const override { codec_.schema(json); }
  void read(const YamlNode& node, const Reading& reading, Owner& owner) const override {
    T value = get_(owner);
    codec_.read(node, reading, value);
    set_(owner, std::move(value));
  }
  void copy(const Owner& from, Owner& to) const override { set_(to, get_(from)); }
  [[nodiscard]] std::string print(const Owner& owner) const override { return codec_.print(get_(owner)); }
  [[nodiscard]] std::optional<PlainValue> plain(const Owner& owner, PartNames apart) const override {
    return plain_value(codec_, get_(owner), apart);
  }
  [[nodiscard]] std::optional<PlainValue> part(const Owner& owner, std::string_view name) const override {
    return codec_.part ? codec_.part(get_(owner), name) : std::nullopt;
  }
  void visit_paths(Owner& owner, const PathVisitor& visit) const override {
    if (!codec_.paths) return;
    T value = get_(owner);
    codec_.paths(value, visit);
    set_(owner, std::move(value));
  }

 private:
  Get get_;
  Set set_;
  Codec<T> codec_;
};

/// A member of the owner, or of a base of it.
template <class Owner, class T>
std::unique_ptr<const PartIo<Owner>> pointer_io(T Owner::*member, Codec<T> codec) {
  static_assert(sizeof member == sizeof(std::intptr_t));
  const auto find = [](Owner& owner, std::intptr_t which) -> void* {
    return &(owner.*std::bit_cast<T Owner::*>(which));
  };
  return std::unique_ptr<const PartIo<Owner>>{
      new MemberIo<Owner>{find, std::bit_cast<std::intptr_t>(member), std::move(codec)}};
}

/// A value inside of the owner: `Member` captures nothing and returns a reference to a T.
template <class Owner, class T, class Member>
std::unique_ptr<const PartIo<Owner>> member_io(Member, Codec<T> codec) {
  const auto find = [](Owner& owner, std::intptr_t /*which*/) -> void* {
    T& value = Member{}(owner);
    return &value;
  };
  return std::unique_ptr<const PartIo<Owner>>{new MemberIo<Owner>{find, 0, std::move(codec)}};
}

/// As PropertyIo.
template <class Owner, class T>
std::unique_ptr<const PartIo<Owner>> property_io(typename PropertyIo<Owner, T>::Get get,
                                                 typename PropertyIo<Owner, T>::Set set, Codec<T> codec) {
  return std::unique_ptr<const PartIo<Owner>>{new PropertyIo<Owner, T>{get, set, std::move(codec)}};
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

#pragma once
// How the files that hold rows of the key table write them. A row names a member of the scenario by a lambda, which is
// only kept as a pair of function pointers: all code that reads, prints and resets is made once for each type of value.

#include "scenarios/keys/keys.hpp"

#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace contend::key_rows {

inline constexpr Time kHour = Time::seconds(3600);
inline constexpr Time kDay = 24 * kHour;

template <class T>
void clear(T& value, const T& fallback) {
  value = fallback;
}
template <class T>
void clear(std::optional<T>& value, const std::optional<T>&) {
  value.reset();
}

/// A key whose values are of type T.
template <class T>
class CodecIo : public KeyIo {
 public:
  explicit CodecIo(Codec<T> codec) : codec_{std::move(codec)} {
    type = codec_.type;
    range = codec_.range;
    is_optional = codec_.is_optional;
    unset = codec_.unset;
  }
  void schema(JsonWriter& json) const final { codec_.schema(json); }

 protected:
  [[nodiscard]] const Codec<T>& codec() const { return codec_; }
  [[nodiscard]] std::optional<PlainValue> part_of(const T& value, std::string_view name) const {
    return codec_.part ? codec_.part(value, name) : std::nullopt;
  }

 private:
  Codec<T> codec_;
};

/// A value that is one member of a scenario.
template <class T>
class MemberIo final : public CodecIo<T> {
 public:
  using Member = T& (*)(Scenario&);
  using ConstMember = const T& (*)(const Scenario&);
  MemberIo(Member member, ConstMember const_member, Codec<T> codec)
      : CodecIo<T>{std::move(codec)}, member_{member}, const_member_{const_member} {}

  void read(const YamlNode& node, const Reading& reading, Scenario& scenario) const override {
    this->codec().read(node, reading, member_(scenario));
  }
  void reset(Scenario& scenario) const override { clear(member_(scenario), const_member_(default_scenario())); }
  [[nodiscard]] std::string print(const Scenario& scenario) const override {
    return this->codec().print(const_member_(scenario));
  }
  [[nodiscard]] std::optional<PlainValue> plain(const Scenario& scenario, PartNames apart) const override {
    return plain_value(this->codec(), const_member_(scenario), apart);
  }
  [[nodiscard]] std::optional<PlainValue> part(const Scenario& scenario, std::string_view name) const override {
    return this->part_of(const_member_(scenario), name);
  }
  void visit_paths(Scenario& scenario, const PathVisitor& visit) const override {
    if (this->codec().paths) this->codec().paths(member_(scenario), visit);
  }

 private:
  Member member_;
  ConstMember const_member_;
};

/// A value that is taken from a scenario by one function and put into it by another.
template <class T>
class PropertyIo final : public CodecIo<T> {
 public:
  using Get = T (*)(const Scenario&);
  using Set = void (*)(Scenario&, T);
  PropertyIo(Get get, Set set, Codec<T> codec) : CodecIo<T>{std::move(codec)}, get_{get}, set_{set} {}

  void read(const YamlNode& node, const Reading& reading, Scenario& scenario) const override {
    T value = get_(scenario);
    this->codec().read(node, reading, value);
    set_(scenario, std::move(value));
  }
  void reset(Scenario& scenario) const override {
    T value = get_(scenario);
    clear(value, get_(default_scenario()));
    set_(scenario, std::move(value));
  }
  [[nodiscard]] std::string print(const Scenario& scenario) const override {
    return this->codec().print(get_(scenario));
  }
  [[nodiscard]] std::optional<PlainValue> plain(const Scenario& scenario, PartNames apart) const override {
    return plain_value(this->codec(), get_(scenario), apart);
  }
  [[nodiscard]] std::optional<PlainValue> part(const Scenario& scenario, std::string_view name) const override {
    return this->part_of(get_(scenario), name);
  }
  void visit_paths(Scenario& scenario, const PathVisitor& visit) const override {
    if (!this->codec().paths) return;
    T value = get_(scenario);
    this->codec().paths(value, visit);
    set_(scenario, std::move(value));
  }

 private:
  Get get_;
  Set set_;
};

/// Takes a unique pointer: make_shared() would have the compiler generate one more class for each type of value.
inline ScenarioKey key_of(std::string_view path, std::unique_ptr<const KeyIo> io, std::string_view text) {
  ScenarioKey key;
  key.path = path;
  key.text = text;
  key.io = std::move(io);
  return key;
}

/// A key whose value is taken from a scenario by `get` and put into it by `set`.
template <class T>
ScenarioKey property(std::string_view path, std::type_identity_t<T (*)(const Scenario&)> get,
                     std::type_identity_t<void (*)(Scenario&, T)> set, Codec<T> codec, std::string_view text) {
  return key_of(path, std::make_unique<const PropertyIo<T>>(get, set, std::move(codec)), text);
}

/// What row() does, compiled once for each type of value.
template <class T>
ScenarioKey member_row(std::string_view path, typename MemberIo<T>::Member member,
                       typename MemberIo<T>::ConstMember const_member, Codec<T> codec, std::string_view text) {
  return key_of(path, std::make_unique<const MemberIo<T>>(member, const_member, std::move(codec)), text);
}

/// A key that is one member of a scenario: `member` captures nothing and returns a reference to it, const if the
/// scenario is.
template <class T, class Member>
ScenarioKey row(std::string_view path, Member, Codec<T> codec, std::string_view text) {
  // clang 14 converts no generic lambda that returns auto& to a pointer to a function.
  return member_row<T>(
      path, [](Scenario& scenario) -> T& { return Member{}(scenario); },
      [](const Scenario& scenario) -> const T& { return Member{}(scenario); }, std::move(codec), text);
}

/// A key that takes the place of others: they are no longer given where it is.
inline ScenarioKey displacing(std::vector<std::string_view> others, ScenarioKey key) {
  key.displaces = std::move(others);
  return key;
}

/// A key that a scenario has only if `holds`; `needs` says in words what that is.
inline ScenarioKey where(ScenarioKey key, KeyCondition holds, std::string_view needs) {
  key.conditions = {holds};
  key.needs = needs;
  return key;
}

/// A value that need not be given, and has no word for that.
template <class T>
Codec<std::optional<T>> maybe(Codec<T> codec) {
  return optional_codec(std::move(codec), "");
}

}  // namespace contend::key_rows

#include "text/json_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace contend {
namespace {

using Kind = JsonValue::Kind;
constexpr std::size_t kDeepest = 64;
constexpr std::size_t kLongestToken = std::size_t{16} << 20;

/// Returns the bytes of a source one by one and remembers where the current token begins.
class Cursor {
 public:
  Cursor(ByteSource& source, const std::string& file) : source_{source}, file_{file} {}

  [[nodiscard]] bool at_end() {
    if (at_ == filled_) {
      filled_ = read_at_line(source_, buffer_.data(), buffer_.size(), here_.line);
      at_ = 0;
    }
    return at_ == filled_;
  }
  [[nodiscard]] char current() const { return buffer_[at_]; }
  [[nodiscard]] TextPlace token() const { return token_; }
  [[nodiscard]] TextPlace here() const { return here_; }
  [[nodiscard]] const std::string& file() const { return file_; }

  void advance() {
    const char c = buffer_[at_++];
    if (in_string_) {
      in_string_ = escaped_ || c != '"';
      escaped_ = !escaped_ && c == '\\';
    } else if (c == '{' || c == '[') {
      begin_token();
      between_ = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ':' || c == '}' || c == ']') {
      between_ = true;
    } else {
      if (between_ || c == '"') begin_token();
      between_ = false;
      in_string_ = c == '"';
    }
    if (++length_ > kLongestToken && !between_) {
      FileComplaints{file_}.fail(token_, "", fmt::format("a value longer than {} MiB", kLongestToken >> 20));
    }
    if (c == '\n') {
      ++here_.line;
      here_.column = 1;
    } else {
      ++here_.column;
    }
  }

 private:
  void begin_token() {
    token_ = here_;
    length_ = 0;
  }

  ByteSource& source_;
  const std::string& file_;
  std::array<char, std::size_t{1} << 16> buffer_{};
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  std::size_t length_ = 0;
  TextPlace here_{1, 1};
  TextPlace token_{1, 1};
  bool between_ = true;  ///< between two tokens
  bool in_string_ = false;
  bool escaped_ = false;
};

/// The input iterator of the parser; a default-constructed one is the end.
class CursorIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  CursorIterator() = default;
  explicit CursorIterator(Cursor& cursor) : cursor_{&cursor} {}
  char operator*() const { return cursor_->current(); }
  CursorIterator& operator++() {
    cursor_->advance();
    return *this;
  }
  CursorIterator operator++(int) {
    const CursorIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CursorIterator& other) const { return ended() == other.ended(); }
  bool operator!=(const CursorIterator& other) const { return !(*this == other); }

 private:
  [[nodiscard]] bool ended() const { return cursor_ == nullptr || cursor_->at_end(); }
  Cursor* cursor_ = nullptr;
};

/// Builds values from the events of the parser. The parser requires the names of the functions.
class Builder {
 public:
  struct Stream {
    std::optional<std::string_view> array;  ///< a member of the document; none: the document itself
    const std::function<void(const JsonValue&)>& element;
  };

  Builder(Cursor& cursor, std::optional<Stream> stream) : cursor_{cursor}, stream_{stream} {}

  bool null() { return add(scalar(Kind::null, {})); }
  bool boolean(bool value) {
    JsonValue result = scalar(Kind::boolean, {});
    result.boolean = value;
    return add(std::move(result));
  }
  bool number_integer(std::int64_t value) { return add(scalar(Kind::number, std::to_string(value))); }
  bool number_unsigned(std::uint64_t value) { return add(scalar(Kind::number, std::to_string(value))); }
  bool number_float(double /*value*/, const std::string& digits) { return add(scalar(Kind::number, digits)); }
  bool string(std::string& value) { return add(scalar(Kind::string, std::move(value))); }
  bool binary(std::vector<std::uint8_t>& /*value*/) { return false; }  // there is none in JSON text

  bool start_object(std::size_t /*size*/) { return open(Kind::object); }
  bool start_array(std::size_t /*size*/) { return open(Kind::array); }
  bool key(std::string& name) {
    JsonValue& object = open_.back();
    if (!in_stream() && !names_.back().insert(name).second)
      FileComplaints{cursor_.file()}.fail(cursor_.token(), "", fmt::format("\"{}\" appears twice in one object", name));
    object.names.push_back(std::move(name));
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool parse_error(std::size_t /*position*/, const std::string& token, const nlohmann::json::exception& error) {
    // From `[json.exception...] parse error at line 1, column 5: reason` only the reason is kept.
    std::string reason = error.what();
    if (const std::size_t bracket = reason.find("] "); bracket != std::string::npos) reason.erase(0, bracket + 2);
    if (const std::size_t column = reason.find(", column "); column != std::string::npos)
      reason.erase(0, std::min(reason.find(": ", column), reason.size() - 2) + 2);
    const bool not_finite = token.ends_with('N') || token.ends_with('I');
    const bool ended = reason.find("end of input") != std::string::npos;
    FileComplaints{cursor_.file()}.fail(ended ? cursor_.here() : cursor_.token(), "", "not valid JSON: " + reason,
                                        not_finite ? "JSON has no NaN and no infinity" : "");
  }

  JsonValue take() { return std::move(root_); }

 private:
  JsonValue scalar(Kind kind, std::string text) const {
    JsonValue value;
    value.kind = kind;
    value.text = std::move(text);
    value.place = cursor_.token();
    return value;
  }

  bool open(Kind kind) {
    if (stream_) check_shape(kind);
    if (open_.size() == kDeepest)
      FileComplaints{cursor_.file()}.fail(cursor_.token(), "", fmt::format("nested deeper than {} levels", kDeepest));
    open_.push_back(scalar(kind, {}));
    names_.emplace_back();
    return true;
  }

  bool close() {
    JsonValue value = std::move(open_.back());
    open_.pop_back();
    names_.pop_back();
    return add(std::move(value));
  }

  bool add(JsonValue value) {
    if (open_.empty())
      root_ = std::move(value);
    else if (in_stream() && open_.size() == stream_depth())
      stream_->element(value);
    else
      open_.back().items.push_back(std::move(value));
    return true;
  }

  /// True within the array that is delivered element by element.
  [[nodiscard]] bool in_stream() const {
    return stream_ && open_.size() >= stream_depth() &&
           (!stream_->array || open_.front().names.back() == *stream_->array);
  }
  [[nodiscard]] std::size_t stream_depth() const { return stream_->array ? 2 : 1; }

  /// Rejects a document of another shape at once, which would otherwise be read whole into memory first.
  void check_shape(Kind kind) const {
    const auto fail = [this](std::string key, std::string reason) {
      FileComplaints{cursor_.file()}.fail(cursor_.token(), std::move(key), std::move(reason));
    };
    if (!stream_->array) {
      if (open_.empty() && kind != Kind::array) fail("", "expected an array");
      return;
    }
    if (open_.empty() && kind != Kind::object)
      fail("", fmt::format("expected an object with an array \"{}\"", *stream_->array));
    if (open_.size() == 1 && kind != Kind::array && open_.front().names.back() == *stream_->array)
      fail(std::string{*stream_->array}, "expected an array");
  }

  Cursor& cursor_;
  std::optional<Stream> stream_;
  JsonValue root_;
  std::vector<JsonValue> open_;  ///< arrays and objects around the value that is being read
  std::vector<std::set<std::string>> names_;
};

JsonValue parse(ByteSource& source, const std::string& file, std::optional<Builder::Stream> stream) {
  const auto cursor = std::make_unique<Cursor>(source, file);
  Builder builder{*cursor, stream};
  nlohmann::json::sax_parse(CursorIterator{*cursor}, CursorIterator{}, &builder);
  return builder.take();
}

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? nullptr : &items[static_cast<std::size_t>(found - names.begin())];
}

std::optional<std::uint64_t> JsonValue::whole() const {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return is(Kind::number) && error == std::errc{} && stop == end ? std::optional{number} : std::nullopt;
}

std::size_t JsonValue::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count(names.begin(), names.end(), name));
}

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return "a boolean";
    case Kind::number:
      return "a number";
    case Kind::string:
      return "a string";
    case Kind::array:
      return "an array";
    case Kind::object:
      return "an object";
  }
  return {};
}

JsonValue read_json(ByteSource& source, const std::string& file) {
  return parse(source, file, std::nullopt);
}

JsonValue stream_json(ByteSource& source, const std::string& file, std::string_view array,
                      const std::function<void(const JsonValue&)>& element) {
  JsonValue document = parse(source, file, Builder::Stream{array, element});
  if (const JsonValue* found = document.find(array); found == nullptr || !found->is(Kind::array))
    FileComplaints{file}.fail(document.place, std::string{array}, fmt::format("expected an array \"{}\"", array));
  return document;
}

void stream_json_array(ByteSource& source, const std::string& file,
                       const std::function<void(const JsonValue&)>& element) {
  const JsonValue document = parse(source, file, Builder::Stream{std::nullopt, element});
  if (!document.is(Kind::array)) FileComplaints{file}.fail(document.place, "", "expected an array");
}

}  // namespace contend

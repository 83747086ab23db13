// The only file that uses yaml-cpp. It handles the parser's events instead of loading YAML::Node, whose maps have
// already lost duplicate keys and places.
#include "scenarios/yaml/yaml_tree.hpp"

#include <algorithm>
#include <istream>
#include <map>
#include <streambuf>

#include <fmt/core.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

namespace contend {
namespace {

constexpr std::size_t kMaxKeyBytes = 128;

/// Ends the parse of a text whose structure cannot be recovered, after the complaint was added.
struct Refused {};

/// Reads a string in place; std::istringstream would copy it.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // only ever read: there is no put area
    setg(begin, begin, begin + text.size());
  }
};

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, const SourceText& source, int first_column, std::vector<Complaint>& complaints)
      : text_{text}, source_{source}, first_column_{first_column}, complaints_{complaints} {}

  YamlNode take_root() { return std::move(root_); }

  Place place(const YAML::Mark& mark) const {
    if (mark.is_null()) return {};
    return {mark.line + 1, mark.column + (mark.line == 0 ? first_column_ : 1)};
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_extras(mark, "?", anchor);
    add_value(
        {.kind = YamlNode::Kind::null, .place = place(mark), .text = {}, .quoted = false, .items = {}, .entries = {}});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse(mark, "aliases are not allowed here"); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_extras(mark, tag, anchor);
    if (tag == "!") check_quotes(mark);
    add_value({.kind = YamlNode::Kind::scalar,
               .place = place(mark),
               .text = value,
               .quoted = tag == "!",
               .items = {},
               .entries = {}});
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::sequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  /// A list or map that is still open.
  struct Frame {
    YamlNode node;
    std::optional<YamlNode> key;           ///< read, its value not yet
    std::map<std::string, int> key_lines;  ///< line of each key so far
  };

  bool expects_key() const {
    return !open_.empty() && open_.back().node.kind == YamlNode::Kind::map && !open_.back().key;
  }

  std::string path() const {
    std::string text;
    for (const Frame& frame : open_) {
      if (frame.key) text += (text.empty() ? "" : ".") + frame.key->text;
    }
    return text;
  }

  void complain(Place where, const std::string& key, std::string reason, std::string hint = {}) {
    complaints_.push_back(source_.complaint(where, key, std::move(reason), std::move(hint)));
  }

  [[noreturn]] void refuse(const YAML::Mark& mark, std::string reason) {
    complain(place(mark), path(), std::move(reason));
    throw Refused{};
  }

  void refuse_extras(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) refuse(mark, "anchors are not allowed here");
    if (!tag.empty() && tag != "?" && tag != "!") refuse(mark, "tags are not allowed here");
  }

  /// Rejects unclosed quotes, which yaml-cpp closes at the end of the text, and `! 3`, which it reports like `"3"`.
  void check_quotes(const YAML::Mark& mark) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // not counted by yaml-cpp
    std::size_t at =
        static_cast<std::size_t>(mark.pos) + (text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
    const char quote = at < text_.size() ? text_[at] : '!';
    if (quote == '!') refuse(mark, "tags are not allowed here");
    if (quote != '"' && quote != '\'') return;  // a block scalar
    for (++at; at < text_.size(); ++at) {
      const bool doubled = quote == '\'' && text_.substr(at).starts_with("''");
      const bool escaped = quote == '"' && text_[at] == '\\';
      if (doubled || escaped)
        ++at;
      else if (text_[at] == quote)
        break;
    }
    if (at >= text_.size()) refuse(mark, "the quote is not closed");
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    refuse_extras(mark, tag == "!" ? "!!" : tag, anchor);  // only a scalar can have quotes
    if (expects_key()) refuse(mark, "expected a key, got a list or map (is a bracket not closed?)");
    if (open_.size() >= kMaxYamlDepth) refuse(mark, fmt::format("nested more than {} deep", kMaxYamlDepth));
    Frame frame;
    frame.node.kind = kind;
    frame.node.place = place(mark);
    open_.push_back(std::move(frame));
  }

  void close() {
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    add_value(std::move(node));
  }

  void add_value(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (open_.back().node.kind == YamlNode::Kind::sequence) {
      open_.back().node.items.push_back(std::move(node));
    } else if (!open_.back().key) {
      open_.back().key = std::move(node);
      if (open_.back().key->text.size() > kMaxKeyBytes) {
        complain(open_.back().key->place, {}, fmt::format("a key of more than {} bytes", kMaxKeyBytes));
        throw Refused{};
      }
    } else {
      add_entry(std::move(node));
    }
  }

  void add_entry(YamlNode value) {
    Frame& frame = open_.back();
    const YamlNode key = std::move(*frame.key);
    frame.key.reset();
    const std::string parent = path();
    const auto complain_here = [&](std::string reason, std::string hint = {}) {
      complain(key.place, parent.empty() ? key.text : parent + "." + key.text, std::move(reason), std::move(hint));
    };
    if (key.kind == YamlNode::Kind::null || key.text.empty()) return complain_here("expected a key, got nothing");
    if (key.text == "<<") return complain_here("merge keys are not allowed here", "use `include`");
    const auto [first, is_new] = frame.key_lines.emplace(key.text, key.place.line);
    if (!is_new) return complain_here(fmt::format("duplicate key, first at line {}", first->second));
    // yaml-cpp gives a missing value the place of the next token.
    if (value.kind == YamlNode::Kind::null && value.place.line != key.place.line) value.place = key.place;
    frame.node.entries.push_back({key.text, key.place, std::move(value)});
  }

  std::string_view text_;
  const SourceText& source_;
  int first_column_;
  std::vector<Complaint>& complaints_;
  YamlNode root_;
  std::vector<Frame> open_;
};

/// The length of the UTF-8 sequence at the start of `text`; 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0x80   ? 1
                             : byte(0) < 0xc2 ? 0
                             : byte(0) < 0xe0 ? 2
                             : byte(0) < 0xf0 ? 3
                             : byte(0) < 0xf5 ? 4
                                              : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xf0 && byte(1) < 0x90);
  const bool outside = (byte(0) == 0xed && byte(1) >= 0xa0) || (byte(0) == 0xf4 && byte(1) >= 0x90);
  return overlong || outside ? 0 : length;
}

/// Finds characters that yaml-cpp mishandles silently: it takes 0x04 for the end of the input, replaces bytes that are
/// not UTF-8 and skips lines that start with %. Empty if the text has none.
std::string bad_character(std::string_view text, Place& place) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0) return "not UTF-8 text";
    if (byte == '%' && (i == 0 || text[i - 1] == '\n')) return "directives are not allowed here";
    if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f) {
      return fmt::format("control character 0x{:02x}", byte);
    }
    place = byte == '\n' ? Place{place.line + 1, 1} : Place{place.line, place.column + static_cast<int>(length)};
    i += length;
  }
  return {};
}

const YamlNode* item_of(const YamlNode& list, std::string_view index) {
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    if (std::to_string(i) == index) return &list.items[i];
  }
  return nullptr;
}

const YamlNode* value_of(const YamlNode& map, std::string_view key) {
  const auto entry = std::find_if(map.entries.begin(), map.entries.end(), [&](const auto& e) { return e.key == key; });
  return entry == map.entries.end() ? nullptr : &entry->value;
}

}  // namespace

std::optional<YamlNode> parse_yaml(std::string_view text, const SourceText& source, int first_column,
                                   std::vector<Complaint>& complaints, std::size_t limit) {
  if (text.size() > limit) {
    const char* hint = limit == kMaxSourceBytes ? "put long job lists into a CSV file (workload.jobs)" : "";
    complaints.push_back(source.complaint({}, {}, fmt::format("larger than {} bytes", limit), hint));
    return std::nullopt;
  }
  Place place{1, first_column};
  if (const std::string reason = bad_character(text, place); !reason.empty()) {
    complaints.push_back(source.complaint(place, {}, reason));
    return std::nullopt;
  }
  ViewBuffer buffer{text};
  std::istream stream{&buffer};
  TreeBuilder builder{text, source, first_column, complaints};
  try {
    YAML::Parser parser{stream};
    if (!parser.HandleNextDocument(builder)) return YamlNode{};
    YamlNode root = builder.take_root();
    TreeBuilder next{text, source, first_column, complaints};
    if (parser.HandleNextDocument(next)) {
      complaints.push_back(
          source.complaint(next.take_root().place, {}, "a second document", "put it into a file of its own"));
    }
    return root;
  } catch (const Refused&) {
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    complaints.push_back(source.complaint(builder.place(error.mark), {}, "not YAML: " + error.msg));
    return std::nullopt;
  }
}

std::pair<std::size_t, const YamlNode*> follow(const YamlNode& root, std::string_view path) {
  const YamlNode* node = &root;
  for (std::size_t depth = 0;; ++depth) {
    if (path.empty()) return {depth, node};
    const bool index = path.front() == '[';
    const std::string_view part = path.substr(1, path.find_first_of(index ? "]" : ".[", 1) - 1);
    const YamlNode* next = index ? item_of(*node, part) : value_of(*node, part);
    if (next == nullptr) return {depth, node};
    node = next;
    path.remove_prefix(std::min(path.size(), part.size() + (index ? 2 : 1)));
  }
}

}  // namespace contend

#include "models/catalogue/network_program.hpp"

#include "models/catalogue/attention.hpp"
#include "models/catalogue/builder.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

using Lines = std::span<const std::pair<std::string_view, std::string_view>>;

/// What the lines of a network or a module call by name.
struct Scope {
  std::map<std::string_view, std::string> texts;
  std::map<std::string_view, std::int64_t> numbers;
  std::map<std::string_view, std::vector<Feature>> features;  ///< one, or the features before a dense layer
  std::vector<Feature> output;

  [[nodiscard]] const Feature& feature(std::string_view name) const { return features.at(name).front(); }
  [[nodiscard]] std::int64_t number(std::string_view text) const;
  [[nodiscard]] std::string filled(std::string_view text) const;

 private:
  [[nodiscard]] std::int64_t term(std::string_view text) const;
};

/// The whole number at the front of the text, which it is taken off.
std::int64_t take_whole(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  CONTEND_CHECK(error == std::errc{}, "a number stands in a line of a network");
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::int64_t Scope::term(std::string_view text) const {
  if (text.front() >= '0' && text.front() <= '9') return take_whole(text);
  if (text.ends_with(".channels")) return feature(take_field(text, '.')).channels;
  if (text.ends_with(".positions")) return feature(take_field(text, '.')).positions();
  return numbers.at(text);
}

std::int64_t Scope::number(std::string_view text) const {
  std::int64_t value = 0;
  for (char mark = '+'; mark != '\0';) {
    const std::size_t end = std::min(text.find_first_of("+*/"), text.size());
    const std::int64_t next = term(text.substr(0, end));
    value = mark == '+' ? value + next : mark == '*' ? value * next : value / next;
    mark = end < text.size() ? text[end] : '\0';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return value;
}

std::string Scope::filled(std::string_view text) const {
  if (text == "-") return {};
  std::string out;
  while (!text.empty()) {
    out += take_field(text, '{');
    if (text.empty()) break;
    const std::string_view name = take_field(text, '}');
    const auto known = texts.find(name);
    out += known == texts.end() ? fmt::format("{}", number(name)) : known->second;
  }
  return out;
}

/// `3`, `1x7=`, `7/2+3` or `3/2^`.
Window window_of(std::string_view text) {
  Window window;
  window.height = window.width = take_whole(text);
  while (!text.empty()) {
    const char mark = text.front();
    text.remove_prefix(1);
    if (mark == 'x')
      window.width = take_whole(text);
    else if (mark == '=')
      window = Window::same(window.height, window.width);
    else if (mark == '/')
      window.stride = take_whole(text);
    else if (mark == '+')
      window.pad_height = window.pad_width = take_whole(text);
    else
      window = window.rounded_up();
  }
  return window;
}

/// A line that appends a layer.
struct Call {
  NetworkBuilder& net;
  const Scope& scope;
  const std::string& name;
  std::span<const std::string> words;  ///< behind the name

  [[nodiscard]] const Feature& feature(std::size_t at = 0) const { return scope.feature(words[at]); }
  [[nodiscard]] std::int64_t number(std::size_t at) const { return scope.number(words[at]); }
  [[nodiscard]] Bias bias() const { return words.back() == "bias" ? Bias::yes : Bias::no; }
  [[nodiscard]] AttentionInputs attention() const {
    return {feature(0), feature(1), feature(2), number(3), words.size() > 4 && number(4) != 0};
  }
  /// All features of all words.
  [[nodiscard]] std::vector<Feature> all() const {
    std::vector<Feature> features;
    for (const std::string& word : words) std::ranges::copy(scope.features.at(word), std::back_inserter(features));
    return features;
  }
};

struct Operation {
  std::string_view name;
  Feature (*append)(const Call&);
};
constexpr Operation kOperations[] = {
    {"input",
     [](const Call& c) {
       return Feature{c.number(0), c.number(1), c.number(2)};
     }},
    {"hidden",
     [](const Call& c) {
       return Feature{c.number(0), c.number(1), c.number(2), true};
     }},
    {"flatten", [](const Call& c) { return NetworkBuilder::flatten(c.feature()); }},
    {"slice",
     [](const Call& c) {
       return Feature{c.number(1), c.feature().height, c.feature().width, c.feature().needs_gradient};
     }},
    {"convolution",
     [](const Call& c) {
       return c.net.convolution(c.name, c.feature(), c.number(1), window_of(c.words[2]), c.bias());
     }},
    {"linear", [](const Call& c) { return c.net.linear(c.name, c.feature(), c.number(1), c.bias()); }},
    {"tied-linear", [](const Call& c) { return c.net.tied_linear(c.name, c.feature(), c.number(1), c.bias()); }},
    {"batch-norm", [](const Call& c) { return c.net.batch_normalization(c.name, c.feature()); }},
    {"norm", [](const Call& c) { return c.net.normalization(c.name, c.feature()); }},
    {"rms-norm", [](const Call& c) { return c.net.normalization(c.name, c.feature(), Bias::no); }},
    {"pooling", [](const Call& c) { return c.net.pooling(c.name, c.feature(), window_of(c.words[1])); }},
    {"adaptive-pooling", [](const Call& c) { return c.net.adaptive_pooling(c.name, c.feature(), c.number(1)); }},
    {"activation", [](const Call& c) { return c.net.activation(c.name, c.feature()); }},
    {"sum", [](const Call& c) { return c.net.sum(c.name, c.feature(), c.feature(1)); }},
    {"concatenation", [](const Call& c) { return c.net.concatenation(c.name, c.all()); }},
    {"trained-tensor",
     [](const Call& c) {
       return c.net.trained_tensor(c.name, c.feature(), c.words[1], {c.number(2), c.number(3), c.number(4)});
     }},
    {"embedding", [](const Call& c) { return c.net.embedding(c.name, c.number(0), c.number(1), c.number(2)); }},
    {"tied-embedding",
     [](const Call& c) { return c.net.tied_embedding(c.name, c.number(0), c.number(1), c.number(2)); }},
    {"lstm", [](const Call& c) { return c.net.lstm(c.name, c.feature(), c.number(1), static_cast<int>(c.number(2))); }},
    {"attention", [](const Call& c) { return attention(c.net, c.name, c.attention()); }},
    {"fused-attention", [](const Call& c) { return fused_attention(c.net, c.name, c.attention()); }},
};

/// The words of a line, with numbers and texts in place of names in braces.
std::vector<std::string> words_of(std::string_view line, const Scope& scope) {
  std::vector<std::string> words;
  while (!line.empty()) words.push_back(scope.filled(take_field(line, ' ')));
  return words;
}

/// The `end` of the line at `begin`, which is for, if or unless.
std::size_t end_of(Lines lines, std::size_t begin) {
  std::size_t end = begin;
  for (int open = 1; open > 0;) {
    const std::string_view word = lines[++end].first;
    open += word == "end" ? -1 : word == "for" || word == "if" || word == "unless" ? 1 : 0;
  }
  return end;
}

void run(NetworkBuilder& net, Lines lines, Scope& scope);

/// The scope of a module whose line has these words behind the name.
Scope scope_of(const TextEntry& module, const Scope& outer, const std::string& name,
               std::span<const std::string> words) {
  Scope scope;
  scope.texts["at"] = name;
  std::string_view takes = module.text("takes");
  for (const std::string& word : words) {
    const std::string_view parameter = take_field(takes, ' ');
    const auto feature = outer.features.find(word);
    if (parameter.starts_with('{'))
      scope.texts[parameter.substr(1, parameter.size() - 2)] = word;
    else if (feature != outer.features.end())
      scope.features[parameter] = feature->second;
    else
      scope.numbers[parameter] = outer.number(word);
  }
  return scope;
}

std::vector<Feature> called(NetworkBuilder& net, std::span<const std::string> words, const Scope& scope) {
  const Call call{net, scope, words[1], words.subspan(2)};
  if (words[0] == "all") return call.all();
  const auto* const operation = std::ranges::find(kOperations, words[0], &Operation::name);
  if (operation != std::end(kOperations)) return {operation->append(call)};
  const auto module = std::ranges::find_if(
      architectures(), [&](const TextEntry& each) { return each.kind == "module" && each.name == words[0]; });
  CONTEND_CHECK(module != architectures().end(), "a line of a network names an operation or a module");
  Scope inner = scope_of(*module, scope, call.name, call.words);
  run(net, module->lines, inner);
  return std::move(inner.output);
}

void run(NetworkBuilder& net, Lines lines, Scope& scope) {
  constexpr std::string_view kHeads[] = {"summary", "source", "sample", "sequence", "like", "number", "takes"};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& [word, rest] = lines[i];
    if (std::ranges::find(kHeads, word) != std::end(kHeads)) continue;
    const std::vector<std::string> words = words_of(rest, scope);
    if (word == "return") {
      scope.output = scope.features.at(words[0]);
    } else if (word == "for" || word == "if" || word == "unless") {
      const std::size_t end = end_of(lines, i);
      const Lines inside = lines.subspan(i + 1, end - i - 1);
      if (word != "for") {
        if ((scope.number(words[0]) != 0) == (word == "if")) run(net, inside, scope);
      } else {
        const std::string_view index = rest.substr(0, rest.find(' '));
        for (std::int64_t n = scope.number(words[1]); n < scope.number(words[2]); ++n) {
          scope.numbers[index] = n;
          run(net, inside, scope);
        }
      }
      i = end;
    } else {
      scope.features[word] = called(net, words, scope);
    }
  }
}

/// The parameters that a network takes from a transformer.
ArchitectureNumbers sizes_of(std::string_view transformer) {
  const TransformerModel* const model = find_transformer(transformer);
  CONTEND_CHECK(model != nullptr, "a network is like a transformer of the catalogue");
  return {{"width", model->hidden}, {"feed_forward", model->feed_forward}, {"layers", model->layers},
          {"heads", model->heads},  {"vocabulary", model->vocabulary},     {"key_value_heads", model->key_value_heads}};
}

}  // namespace

const std::vector<TextEntry>& architectures() {
  static const std::vector<TextEntry> kAll = read_entries(architectures_text());
  return kAll;
}

LayerTable build_network(const TextEntry& network, std::int64_t tokens, const ArchitectureNumbers& numbers) {
  Scope scope;
  if (network.has("like")) scope.numbers = sizes_of(network.text("like"));
  scope.numbers["tokens"] = tokens;
  for (auto [word, rest] : network.lines)
    if (word == "number") {
      const std::string_view name = take_field(rest, ' ');
      scope.numbers[name] = scope.number(rest);
    }
  for (const auto& [name, number] : numbers) scope.numbers[name] = number;
  NetworkBuilder net{std::string{network.name}, std::string{network.text("source")},
                     scope.filled(network.text("sample"))};
  run(net, network.lines, scope);
  return net.take();
}

}  // namespace contend

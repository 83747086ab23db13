#include "traces/layers/config_towers.hpp"

#include "sim/check.hpp"
#include "sim/fields.hpp"
#include "traces/layers/config_fields.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

using Sizes = std::map<char, std::int64_t>;

/// The value of a text such as `c*p*p*h + h`. A text of the table is valid.
std::int64_t value_of(std::string_view sum, const Sizes& sizes) {
  std::int64_t value = 0;
  while (!sum.empty()) {
    std::string_view product = trimmed(take_field(sum, '+'));
    std::int64_t factor = 1;
    while (!product.empty()) {
      const std::string_view each = trimmed(take_field(product, '*'));
      std::int64_t number = 0;
      if (std::from_chars(each.data(), each.data() + each.size(), number).ec == std::errc{}) {
        factor *= number;
      } else {
        const auto found = sizes.find(each.front());
        CONTEND_CHECK(found != sizes.end(), "a size of the table of towers is known");
        factor *= found->second;
      }
    }
    value += factor;
  }
  return value;
}

TransformerLayer tower_layer(ConfigFields& fields, std::int64_t hidden) {
  TransformerLayer layer;
  layer.heads = layer.key_value_heads = fields.whole("heads");
  layer.head_size = std::max<std::int64_t>(1, hidden / layer.heads);
  if (hidden % layer.heads != 0)
    fields.refuse("heads", fmt::format("{} heads don't divide the hidden size {}", layer.heads, hidden));
  layer.gated = fields.trait("gated") != 0;
  if (fields.trait("all_biases") != 0) layer.biases = ProductBiases::all;
  layer.attention_norms = static_cast<int>(fields.trait("attention_norms", 1));
  layer.feed_forward_norms = static_cast<int>(fields.trait("feed_forward_norms", 1));
  layer.query_key_norms = fields.text_trait("query_key_norms") == "each";
  const double ratio = fields.number_or("feed_forward_ratio", 0);
  layer.feed_forward = ratio > 0 && !fields.has("feed_forward")
                           ? static_cast<std::int64_t>(std::llround(ratio * static_cast<double>(hidden)))
                           : fields.whole("feed_forward");
  return layer;
}

Sizes sizes_of(ConfigFields& fields, const TransformerModel& stack, std::int64_t behind) {
  Sizes sizes;
  sizes['h'] = stack.hidden;
  sizes['w'] = stack.feed_forward;
  sizes['p'] = fields.whole("patch");
  sizes['t'] = fields.whole_or("frames", 1);
  sizes['c'] = fields.whole_or("channels", 3);
  const std::int64_t side = fields.whole_or("merge", 1);
  sizes['m'] = side * side;
  if (const auto sides = fields.numbers("merge_sides", 2)) sizes['m'] = (*sides)[0] * (*sides)[1];
  sizes['o'] = fields.whole_or("behind", behind);
  sizes['n'] = fields.whole_or("positions", fields.whole_or("rows", 0, 0) * fields.whole_or("columns", 0, 0), 0);
  const JsonValue* const deep = fields.find("deep");
  sizes['d'] = deep == nullptr ? 0 : static_cast<std::int64_t>(deep->items.size());
  sizes['s'] = fields.whole_or("image", 0, 0) / sizes['p'];
  // So that no product of the table overflows.
  constexpr std::int64_t kMost = 1 << 16;
  for (const auto& [letter, size] : sizes) {
    if (size <= kMost) continue;
    fields.refuse("hidden", fmt::format("a size of the tower is {}, more than {}", size, kMost));
    break;
  }
  return sizes;
}

}  // namespace

void read_towers(const JsonValue& whole, std::string_view architecture, TransformerModel& model,
                 std::vector<std::string>& unknown, FileComplaints& complaints) {
  for (const char* name : {"vision", "audio"}) {
    const std::string member = fmt::format("{}_config", name);
    const JsonValue* const object = whole.find(member);
    if (object == nullptr || object->items.empty()) continue;
    const JsonValue* const type = object->find("model_type");
    const ConfigTraits* traits = type == nullptr ? nullptr : config_traits("tower", type->text);
    if (traits == nullptr) traits = config_traits("tower", architecture);
    if (traits == nullptr) {
      unknown.push_back(member);
      continue;
    }
    ConfigFields fields{*object, nullptr, "tower", *traits, complaints};
    Tower tower;
    tower.name = name;
    TransformerModel& stack = tower.stack;
    stack.name = name;
    stack.layers = fields.whole("layers");
    stack.hidden = fields.whole("hidden");
    stack.vocabulary = 1;
    stack.head = OutputHead::none;
    stack.causal = false;
    stack.norm = fields.text_trait("norm") == "rms" ? NormKind::rms : NormKind::layer;
    static_cast<TransformerLayer&>(stack) = tower_layer(fields, stack.hidden);
    const Sizes sizes = sizes_of(fields, stack, model.hidden);
    if (!fields.complete()) continue;
    tower.outside = value_of(fields.text_trait("outside"), sizes);
    tower.products = value_of(fields.text_trait("products"), sizes);
    validate(stack);
    model.towers.push_back(std::move(tower));
  }
}

}  // namespace contend

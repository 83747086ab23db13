#include "scenarios/keys/setup_codecs.hpp"

#include "scenarios/yaml/map_codec.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace contend {

Codec<DataType> data_type_codec(std::initializer_list<DataType> also) {
  std::vector<std::pair<std::string, DataType>> choices;
  for (const DataType type : {DataType::fp32, DataType::tf32, DataType::fp16, DataType::bf16}) {
    choices.emplace_back(std::string{to_string(type)}, type);
  }
  for (const DataType type : also) choices.emplace_back(std::string{to_string(type)}, type);
  return choice_codec<DataType>(std::move(choices));
}

Codec<std::optional<AttentionKernel>> attention_codec() {
  std::vector<std::pair<std::string, AttentionKernel>> choices{{"flash", AttentionKernel::flash}};
  for (std::size_t i = 0; i < kFlashKernels.size(); ++i)
    choices.emplace_back(kFlashKernels[i],
                         static_cast<AttentionKernel>(static_cast<std::size_t>(AttentionKernel::flash_1) + i));
  choices.emplace_back("plain", AttentionKernel::plain);
  return optional_codec(choice_codec(std::move(choices)), "auto");
}

Codec<std::optional<Efficiency>> efficiency_codec() {
  const Codec<bool> word = choice_codec<bool>({{"sheet", true}, {"flat", false}});
  const Codec<double> share = number_codec(0.01, 1);
  Codec<Efficiency> codec;
  codec.type = "name or number";
  codec.range = fmt::format("{}, or {}", word.range, share.range);
  codec.schema = [word, share](JsonWriter& json) { any_of_schema(json, word.schema, share.schema); };
  codec.read = [word, share](const YamlNode& node, const Reading& reading, Efficiency& value) {
    Efficiency read;
    const std::size_t before = reading.complaints.size();
    if (node.kind == YamlNode::Kind::scalar && !node.text.empty() &&
        std::isalpha(static_cast<unsigned char>(node.text[0])) != 0)
      word.read(node, reading, read.sheet);
    else
      share.read(node, reading, read.share.emplace());
    if (reading.complaints.size() == before) value = read;
  };
  codec.print = [word, share](const Efficiency& value) {
    return value.share ? share.print(*value.share) : word.print(value.sheet);
  };
  return optional_codec(std::move(codec), "auto");
}

Codec<Recomputation> recompute_codec() {
  const Codec<Recomputation> word = choice_codec<Recomputation>({{"none", Recomputation::none},
                                                                 {"selective", Recomputation::core_attn},
                                                                 {"operators", Recomputation::operators},
                                                                 {"full", Recomputation::full}});
  const Codec<std::vector<Recomputation>> list =
      distinct_list_codec(choice_codec<Recomputation>({kRecomputedModules.begin(), kRecomputedModules.end()}),
                          Recomputation::none, "modules");
  Codec<Recomputation> codec;
  codec.type = "name or list of modules";
  codec.range = fmt::format("{}, or of {}", word.range, list.range);
  codec.schema = [word, list](JsonWriter& json) { any_of_schema(json, word.schema, list.schema); };
  codec.read = [word, list](const YamlNode& node, const Reading& reading, Recomputation& value) {
    if (node.kind != YamlNode::Kind::sequence) return word.read(node, reading, value);
    std::vector<Recomputation> modules;
    list.read(node, reading, modules);
    if (modules.empty()) return;  // the list is at fault
    value = Recomputation::none;
    for (const Recomputation each : modules) value = value | each;
  };
  codec.print = [word, list](const Recomputation& value) {
    if (std::string text = word.print(value); !text.empty()) return text;
    std::vector<Recomputation> modules;
    for (const auto& [name, module] : kRecomputedModules)
      if (repeats(value, module)) modules.push_back(module);
    return list.print(modules);
  };
  return codec;
}

Codec<ExchangeKind> exchange_codec() {
  return choice_codec<ExchangeKind>(
      {{"all-reduce", ExchangeKind::all_reduce}, {"parameter-server", ExchangeKind::parameter_server}});
}

Codec<FrameworkCosts> framework_codec() {
  std::vector<std::string> names;
  for (const NamedFramework& each : frameworks()) names.emplace_back(each.name);
  const Codec<std::string> name = name_codec(names);
  const Codec<double> bytes = number_codec(0, 1000);
  const Codec<FrameworkCosts> parts =
      map_codec<FrameworkCosts>({field("bytes_before", &FrameworkCosts::bytes_before, bytes),
                                 field("bytes_after", &FrameworkCosts::bytes_after, bytes),
                                 field("launches", &FrameworkCosts::launches, integer_codec<int>(0, 1000)),
                                 field("tensor_before", &FrameworkCosts::tensor_before, quantity_codec(Time{}, kHour))},
                                "{bytes_before: 8, bytes_after: 8, launches: 1}");
  Codec<FrameworkCosts> codec;
  codec.type = "name or map";
  codec.range = name.range;
  codec.schema = [name, parts](JsonWriter& json) { any_of_schema(json, name.schema, parts.schema); };
  codec.read = [name, parts](const YamlNode& node, const Reading& reading, FrameworkCosts& value) {
    if (node.kind == YamlNode::Kind::map) return parts.read(node, reading, value);
    const std::size_t before = reading.complaints.size();
    std::string named;
    name.read(node, reading, named);
    if (reading.complaints.size() == before)
      value = std::ranges::find(frameworks(), named, &NamedFramework::name)->costs;
  };
  codec.print = [parts](const FrameworkCosts& value) {
    const auto known = std::ranges::find(frameworks(), value, &NamedFramework::costs);
    return known == frameworks().end() ? parts.print(value) : std::string{known->name};
  };
  return codec;
}

Codec<CodedSteps> coded_steps_codec() {
  constexpr int kMostLate = 1000, kMostSteps = 10'000;
  constexpr double kMostTolerance = 1000;
  const Codec<int> number = integer_codec<int>(0, kMostLate);
  const Codec<CodedSteps> parts = map_codec<CodedSteps>(
      {field("code", &CodedSteps::code,
             choice_codec<GradientCode>({{"gc", GradientCode::gradient_coding},
                                         {"sr-sgc", GradientCode::selective_repeat},
                                         {"m-sgc", GradientCode::multiplexed}}),
             true),
       field("stragglers", &CodedSteps::stragglers, integer_codec<int>(1, kMostLate), true),
       field("burst", &CodedSteps::burst, integer_codec<int>(1, kMostSteps)),
       field("window", &CodedSteps::window, integer_codec<int>(2, kMostSteps)),
       field("tolerance", &CodedSteps::tolerance, optional_codec(number_codec(0, kMostTolerance), ""))},
      "{code: sr-sgc, stragglers: 4, burst: 2, window: 3}");
  Codec<CodedSteps> codec;
  codec.type = "integer or map";
  codec.range = number.range;
  codec.schema = [number, parts](JsonWriter& json) { any_of_schema(json, number.schema, parts.schema); };
  codec.read = [number, parts](const YamlNode& node, const Reading& reading, CodedSteps& value) {
    const std::size_t before = reading.complaints.size();
    CodedSteps read;
    if (node.kind != YamlNode::Kind::map) {
      number.read(node, reading, read.stragglers);
    } else {
      parts.read(node, reading, read);
      const bool is_sequential = read.code != GradientCode::gradient_coding;
      const bool is_read = reading.complaints.size() == before;  // else it has no code yet
      for (const YamlNode::Entry& each : node.entries)
        if (is_read && !is_sequential && (each.key == "burst" || each.key == "window"))
          reading.complain(each.place, fmt::format("only code: sr-sgc and code: m-sgc have a {}", each.key),
                           "leave it out");
      if (is_sequential && !read.tolerance) read.tolerance = 1;
    }
    if (reading.complaints.size() == before) value = read;
  };
  codec.print = [number, parts](const CodedSteps& value) {
    const bool is_number = value.code == GradientCode::gradient_coding && !value.tolerance;
    if (is_number) return number.print(value.stragglers);
    return parts.print(value);
  };
  return codec;
}

Codec<MessageRoute> route_codec() {
  return choice_codec<MessageRoute>({{"auto", MessageRoute::usual},
                                     {"all-reduce", MessageRoute::all_reduce},
                                     {"all-gather", MessageRoute::all_gather},
                                     {"scatter-gather", MessageRoute::scatter_gather}});
}

Codec<std::vector<double>> hourly_codec(double most) {
  using Rates = std::vector<double>;
  const Codec<double> number = number_codec(0, most);
  const Codec<Rates> list = list_codec(number, "numbers by hour");
  Codec<Rates> codec = list;
  codec.type = "number, or list of numbers by hour";
  codec.schema = [number, list](JsonWriter& json) { any_of_schema(json, number.schema, list.schema); };
  codec.read = [number, list](const YamlNode& node, const Reading& reading, Rates& value) {
    if (node.kind != YamlNode::Kind::scalar) return list.read(node, reading, value);
    value.assign(1, 0);
    number.read(node, reading, value.front());
  };
  codec.plain = {};
  return codec;
}

}  // namespace contend

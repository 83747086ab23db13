#include "traces/layers/kineto_events.hpp"

#include "text/decimal.hpp"
#include "text/json_reader.hpp"
#include "traces/layers/layer_quantities.hpp"

#include <map>
#include <set>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

using Kind = JsonValue::Kind;
constexpr std::int64_t kLatest = std::int64_t{1} << 61;  // a sum of two stays within 64 bits
constexpr std::string_view kModule = "nn.Module: ";
constexpr std::string_view kLayer = "layer:";
constexpr std::string_view kEngine = "autograd::engine::evaluate_function: ";
constexpr std::string_view kAccumulate = "torch::autograd::AccumulateGrad";

/// Sorts the events of a trace by kind. The categories come from PyTorch 1.12 and later; before, they were
/// called Operator, Runtime and Kernel.
class Collector {
 public:
  explicit Collector(FileComplaints& complaints) : complaints_{complaints} {}

  void add(const JsonValue& event) {
    ++index_;
    if (!event.is(Kind::object)) {
      complain(event, fmt::format("expected an object, got {}", kind_name(event.kind)));
      return;
    }
    if (text(event, "ph") != "X") return;  // arrows, counters, names of threads
    const std::string_view category = text(event, "cat");
    if (category == "cpu_op" || category == "Operator")
      add_operator(event);
    else if (category == "python_function")
      add_named(event, kModule, KinetoRange::Kind::module);
    else if (category == "user_annotation")
      add_annotation(event);
    else if (category.ends_with("_runtime") || category.ends_with("_driver") || category == "Runtime")
      add_launch(event);
    else if (category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset" || category == "Kernel" ||
             category == "Memcpy" || category == "Memset")
      add_kernel(event);
  }

  /// Returns the events; `rest` is the document without them.
  KinetoEvents take(const JsonValue& rest) {
    if (devices_.size() > 1)
      complaints_.add({}, "",
                      fmt::format("kernels on {} GPUs; expected the profile of a process with one", devices_.size()));
    if (!devices_.empty()) events_.device = kineto_device_name(rest, *devices_.begin());
    events_.several_forward_threads = forward_threads_.size() > 1;
    return std::move(events_);
  }

 private:
  struct Span {
    std::size_t thread = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  void add_annotation(const JsonValue& event) {
    const std::string_view name = text(event, "name");
    if (name.starts_with("ProfilerStep#"))
      add_range(event, KinetoRange::Kind::step, 0);
    else
      add_named(event, kLayer, KinetoRange::Kind::annotation);
  }

  void add_named(const JsonValue& event, std::string_view prefix, KinetoRange::Kind kind) {
    const std::string_view name = text(event, "name");
    if (!name.starts_with(prefix)) return;
    const std::string layer{name.substr(prefix.size())};
    if (layer.empty()) {
      complain(event, fmt::format("expected the name of a layer behind \"{}\"", prefix));
      return;
    }
    const auto [found, is_new] = name_ids_.emplace(layer, events_.names.size());
    if (is_new) events_.names.push_back(layer);
    add_range(event, kind, static_cast<std::int64_t>(found->second));
  }

  void add_operator(const JsonValue& event) {
    std::string_view name = text(event, "name");
    if (name.starts_with("struct ")) name.remove_prefix(7);  // as Windows writes the names of types
    if (name.starts_with("ProfilerStep#")) return add_range(event, KinetoRange::Kind::step, 0);
    if (name.starts_with(kLayer)) return add_named(event, kLayer, KinetoRange::Kind::annotation);
    if (name == kAccumulate) {
      add_range(event, KinetoRange::Kind::engine, 0);
      return add_gradient(event);
    }
    const std::int64_t sequence = argument(event, "Sequence number", -1);
    const std::int64_t forward_thread = argument(event, "Fwd thread id", 0);
    if (name.starts_with(kEngine)) add_range(event, KinetoRange::Kind::engine, 0);
    if (sequence < 0) return;
    if (forward_thread > 0) {
      forward_threads_.insert(forward_thread);
      add_range(event, KinetoRange::Kind::gradient, sequence);
    } else if (const auto span = span_of(event)) {
      events_.forward_operators.push_back({span->thread, span->begin, sequence});
    }
  }

  void add_range(const JsonValue& event, KinetoRange::Kind kind, std::int64_t id) {
    if (const auto span = span_of(event)) events_.ranges.push_back({kind, span->thread, span->begin, span->end, id});
  }

  void add_gradient(const JsonValue& event) {
    const auto span = span_of(event);
    if (!span) return;
    const JsonValue* arguments = event.find("args");
    const JsonValue* inputs = arguments == nullptr ? nullptr : arguments->find("Input Dims");
    if (inputs == nullptr || inputs->items.empty()) {
      ++events_.unshaped_gradients;
      return;
    }
    KinetoGradient gradient{span->thread, span->begin, {}};
    std::int64_t elements = 1;
    for (const JsonValue& extent : inputs->items.front().items) {
      const std::int64_t size =
          read_whole(extent.text, 1, kMaxElements / elements, extent.place, key() + ".args.Input Dims", complaints_);
      elements *= size;
      gradient.shape.push_back(size);
    }
    if (gradient.shape.empty()) gradient.shape.push_back(1);  // a parameter that is a single number
    events_.gradients.push_back(std::move(gradient));
  }

  void add_launch(const JsonValue& event) {
    const std::int64_t correlation = argument(event, "correlation", 0);
    if (correlation <= 0) return;  // a call that starts nothing
    if (const auto span = span_of(event)) events_.launches.push_back({span->thread, span->begin, correlation});
  }

  void add_kernel(const JsonValue& event) {
    const std::optional<std::int64_t> duration = nanoseconds(event, "dur");
    const std::int64_t correlation = argument(event, "correlation", -1);
    if (!duration) return;
    if (*duration > kLatest - total_) return complain(event, "more GPU time than any run takes");
    total_ += *duration;
    devices_.insert(argument(event, "device", 0));
    events_.kernels.push_back({correlation, *duration, text(event, "name").starts_with("nccl")});
  }

  std::optional<Span> span_of(const JsonValue& event) {
    const std::optional<std::int64_t> begin = nanoseconds(event, "ts");
    const std::optional<std::int64_t> duration = nanoseconds(event, "dur");
    if (!begin || !duration) return std::nullopt;
    const std::string thread = fmt::format("{}/{}", text(event, "pid"), text(event, "tid"));
    const std::size_t id = thread_ids_.emplace(thread, thread_ids_.size()).first->second;
    return Span{id, *begin, *begin + *duration};
  }

  /// A member as text, a number as its digits; empty if it is missing.
  std::string_view text(const JsonValue& object, std::string_view name) {
    const JsonValue* member = once(object, name);
    return member == nullptr ? std::string_view{} : std::string_view{member->text};
  }

  /// A member in microseconds, as nanoseconds.
  std::optional<std::int64_t> nanoseconds(const JsonValue& event, const std::string& name) {
    const JsonValue* member = once(event, name);
    if (member == nullptr || !member->is(Kind::number)) {
      complain(event, fmt::format("expected a number \"{}\"", name));
      return std::nullopt;
    }
    const ScaledDecimal number = parse_scaled(member->text, 3);
    if (number.error != DecimalError::none || number.value < 0 || number.value > kLatest) {
      complain(*member, fmt::format("expected \"{}\" in microseconds >= 0, got {}", name, member->text));
      return std::nullopt;
    }
    return number.value;
  }

  /// A whole number among the arguments, or `fallback`. The profiler sometimes writes 2^64 - 1 for "no number".
  std::int64_t argument(const JsonValue& event, std::string_view name, std::int64_t fallback) {
    const JsonValue* arguments = once(event, "args");
    const JsonValue* member = arguments == nullptr ? nullptr : once(*arguments, name);
    if (member == nullptr) return fallback;
    const ScaledDecimal number = parse_integer(member->text);
    return number.error == DecimalError::none ? number.value : fallback;
  }

  /// The member of that name; reports a name with two different values.
  const JsonValue* once(const JsonValue& object, std::string_view name) {
    const JsonValue* first = object.find(name);
    if (first == nullptr || object.count(name) == 1) return first;
    for (std::size_t i = 0; i < object.items.size(); ++i)
      if (object.names[i] == name && object.items[i].text != first->text)
        complain(object.items[i],
                 fmt::format("\"{}\" appears twice, as {} and {}", name, first->text, object.items[i].text));
    return first;
  }

  [[nodiscard]] std::string key() const { return fmt::format("traceEvents[{}]", index_ - 1); }
  void complain(const JsonValue& value, std::string reason) { complaints_.add(value.place, key(), std::move(reason)); }

  FileComplaints& complaints_;
  std::int64_t index_ = 0;
  std::int64_t total_ = 0;  ///< of all kernels, so that no partial sum overflows
  KinetoEvents events_;
  std::map<std::string, std::size_t> name_ids_;
  std::map<std::string, std::size_t> thread_ids_;
  std::set<std::int64_t> forward_threads_;
  std::set<std::int64_t> devices_;
};

}  // namespace

std::string kineto_device_name(const JsonValue& document, std::int64_t id) {
  for (const char* list : {"deviceProperties", "computeProperties"}) {
    const JsonValue* devices = document.find(list);
    if (devices == nullptr) continue;
    for (const JsonValue& device : devices->items) {
      const JsonValue* number = device.find("id");
      const JsonValue* name = device.find("name");
      if (number != nullptr && name != nullptr && number->text == std::to_string(id)) return name->text;
    }
  }
  return {};
}

KinetoEvents read_kineto_events(ByteSource& source, const std::string& file) {
  FileComplaints complaints{file};
  Collector collector{complaints};
  const JsonValue rest =
      stream_json(source, file, "traceEvents", [&](const JsonValue& event) { collector.add(event); });
  KinetoEvents events = collector.take(rest);
  complaints.throw_if_any();
  return events;
}

}  // namespace contend

#include "traces/step_timeline.hpp"

#include "sim/error.hpp"
#include "text/byte_source.hpp"
#include "text/json_reader.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr double kMicrosecond_s = 1e-6;
constexpr std::string_view kStage = "PP rank ";
constexpr std::int64_t kMostWorkers = 1'000'000;

[[noreturn]] void refuse(const JsonValue& event, const std::string& file, std::string reason) {
  throw InputError{Complaint{.file = file, .line = event.place.line, .reason = std::move(reason)}};
}

const JsonValue& member(const JsonValue& event, std::string_view name, const std::string& file) {
  const JsonValue* const found = event.find(name);
  if (found == nullptr) refuse(event, file, fmt::format("an event without `{}`", name));
  return *found;
}

double number(const JsonValue& value, const std::string& file) {
  double read = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, read);
  if (!value.is(JsonValue::Kind::number) || error != std::errc{} || stop != end || !std::isfinite(read))
    refuse(value, file, "expected a number");
  return read;
}

std::int64_t whole(const JsonValue& value, const std::string& file) {
  const std::optional<std::uint64_t> read = value.whole();
  if (!read || *read > kMostWorkers)
    refuse(value, file, fmt::format("expected a whole number from 0 to {}", kMostWorkers));
  return static_cast<std::int64_t>(*read);
}

/// The stage in the name of a thread; nothing if it has none.
std::optional<int> stage_in(std::string_view name) {
  if (!name.starts_with(kStage)) return std::nullopt;
  name.remove_prefix(kStage.size());
  int stage = 0;
  const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), stage);
  return error == std::errc{} ? std::optional{stage} : std::nullopt;
}

}  // namespace

std::vector<StepOp> read_step_timeline(const std::string& path) {
  const std::unique_ptr<ByteSource> source = open_file(path);
  std::vector<StepOp> ops;
  std::vector<std::int64_t> threads;  // of the operations
  std::map<std::int64_t, int> stages;
  const auto read_event = [&](const JsonValue& event) {
    const std::string& phase = member(event, "ph", path).text;
    if (phase == "M" && member(event, "name", path).text == "thread_name") {
      const JsonValue& args = member(event, "args", path);
      const std::string& name = member(args, "name", path).text;
      const std::optional<int> stage = stage_in(name);
      if (!stage) refuse(event, path, fmt::format("a thread `{}`, expected `PP rank 0, ...`", name));
      stages[whole(member(event, "tid", path), path)] = *stage;
    }
    if (phase != "X") return;
    const JsonValue& args = member(event, "args", path);
    StepOp op;
    op.step = whole(member(args, "step", path), path);
    op.replica = static_cast<int>(whole(member(event, "pid", path), path));
    op.index = static_cast<int>(whole(member(args, "seq_id", path), path));
    const std::string& name = member(event, "name", path).text;
    try {
      op.kind = step_op_kind(name);
    } catch (const InputError& error) {
      refuse(event, path, error.what());
    }
    op.start_s = number(member(event, "ts", path), path) * kMicrosecond_s;
    op.length_s = number(member(event, "dur", path), path) * kMicrosecond_s;
    ops.push_back(op);
    threads.push_back(whole(member(event, "tid", path), path));
  };
  stream_json_array(*source, path, read_event);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const auto stage = stages.find(threads[i]);
    if (stage == stages.end())
      throw InputError{
          Complaint{.file = path, .reason = fmt::format("thread {} has no name with its stage", threads[i])}};
    ops[i].stage = stage->second;
  }
  return ops;
}

}  // namespace contend

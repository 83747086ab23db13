#include "traces/recording/kineto_recording.hpp"

#include "text/json_reader.hpp"
#include "traces/layers/kineto_events.hpp"
#include "traces/recording/communication_names.hpp"
#include "traces/recording/json_fields.hpp"
#include "traces/recording/recording_builder.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {
namespace {

/// Categories before PyTorch 1.12, and what they are called since.
constexpr std::pair<std::string_view, std::string_view> kOldCategories[] = {{"Operator", "cpu_op"},
                                                                            {"Runtime", "cuda_runtime"},
                                                                            {"Kernel", "kernel"},
                                                                            {"Memcpy", "gpu_memcpy"},
                                                                            {"Memset", "gpu_memset"}};
/// Categories that are counted and not made tasks: they say again what others say, or what Python does.
constexpr std::string_view kCountedOnly[] = {"gpu_user_annotation", "python_function", "overhead", "Trace",
                                             "cpu_instant_event"};
constexpr std::string_view kParameters = "record_param_comms";

/// A wait of a stream for what another one had been given when an event was recorded.
struct StreamWait {
  std::uint32_t stream = 0, on_stream = 0;
  std::int64_t wait_call = 0, record_call = 0;  ///< correlations
};

/// What a host thread has said of a collective, from start to end of the call that gives it to the GPU.
struct HostCollective {
  std::uint32_t lane = 0;
  Time start, end;
  RecordedTransfer transfer;
  bool taken = false;  ///< a kernel has its bytes
};

class KinetoRecorder {
 public:
  explicit KinetoRecorder(const std::string& file) : builder_{file} {
    builder_.rank().format = "Kineto";
    builder_.rank().timed = true;
  }

  void add(const JsonValue& event) {
    const std::int64_t index = index_++;
    const std::string_view phase = text_of(&event, "ph");
    if (phase != "X") {
      constexpr std::string_view kOthers = "stfMiICP";  // arrows, names of threads, instants, counters, samples
      if (phase.size() != 1 || kOthers.find(phase) == std::string_view::npos)
        builder_.not_understood(fmt::format("event of phase \"{}\"", phase));
      return;
    }
    std::string_view category = text_of(&event, "cat");
    for (const auto& [old, current] : kOldCategories)
      if (category == old) category = current;
    ++builder_.rank().counts[std::string{category}];
    if (std::ranges::find(kCountedOnly, category) != std::end(kCountedOnly)) return;
    RecordedTask task;
    const std::optional<Time> start = microseconds_of(event, "ts"), duration = microseconds_of(event, "dur");
    if (!start || !duration)
      return builder_.not_understood(fmt::format("{} without a time and a duration >= 0", category));
    task.node = index;
    task.start = *start;
    task.duration = *duration;
    add_timed(event, category, task);
  }

  /// `rest` is the document without its events.
  RecordedRank take(const JsonValue& rest) {
    read_document(rest);
    link_launches();
    for (std::uint32_t i = 0; i < builder_.rank().tasks.size(); ++i) name_collective(builder_.rank().tasks[i]);
    order_streams();
    return builder_.take();
  }

 private:
  void add_timed(const JsonValue& event, std::string_view category, RecordedTask task) {
    const JsonValue* const args = event.find("args");
    const std::string_view name = text_of(&event, "name");
    if (category == "user_annotation" || category == "cpu_op") {
      if (name.starts_with("ProfilerStep#")) return add_step(name, task);
      if (category == "user_annotation") {
        if (name.starts_with("nccl:")) ++builder_.rank().annotations[std::string{name}];
        return;
      }
      task.lane = thread_of(event);
      if (name == kParameters) add_parameters(args, task);
      return add_task(name, task);
    }
    if (category == "cuda_sync") return add_wait(args);
    if (category.ends_with("_runtime") || category.ends_with("_driver")) {
      task.kind = RecordedKind::launch;
      task.lane = thread_of(event);
      if (const auto correlation = whole_of(args, "correlation"); correlation && *correlation > 0)
        calls_.emplace(*correlation, static_cast<std::uint32_t>(builder_.rank().tasks.size()));
      return add_task(name, task);
    }
    if (category == "kernel")
      task.kind = is_communication_kernel(name) || args_name_collective(args) ? RecordedKind::collective
                                                                              : RecordedKind::compute;
    else if (category == "gpu_memcpy")
      task.kind = RecordedKind::copy;
    else if (category == "gpu_memset")
      task.kind = RecordedKind::fill;
    else
      return builder_.not_understood(fmt::format("category \"{}\"", category));
    add_device_task(event, args, name, task);
  }

  void add_device_task(const JsonValue& event, const JsonValue* args, std::string_view name, RecordedTask task) {
    const std::int64_t gpu = whole_of(args, "device").value_or(whole_of(&event, "pid").value_or(0));
    std::string_view stream = text_of(args, "stream");
    if (stream.empty()) stream = text_of(&event, "tid");
    task.lane = builder_.stream(gpu, stream);
    if (task.kind == RecordedKind::collective) {
      RecordedTransfer transfer = transfer_of(args).value_or(RecordedTransfer{});
      if (!args_name_collective(args)) transfer.kind = collective_of_kernel(name);
      task.transfer = builder_.add(transfer);
    }
    if (const auto correlation = whole_of(args, "correlation"))
      launched_.emplace_back(static_cast<std::uint32_t>(builder_.rank().tasks.size()), *correlation);
    add_task(name, task);
  }

  void add_task(std::string_view name, RecordedTask task) {
    task.name = builder_.name(name);
    builder_.add(task);
  }

  void add_step(std::string_view name, const RecordedTask& task) {
    const auto number = listed_numbers(name.substr(name.find('#') + 1));
    builder_.rank().steps.push_back(
        {number && !number->empty() ? number->front() : 0, task.start, task.start + task.duration});
  }

  void add_parameters(const JsonValue* args, const RecordedTask& task) {
    ++builder_.rank().annotations[std::string{kParameters}];
    if (const auto rank = whole_of(args, "Rank"); rank && *rank >= 0) set_rank(*rank);
    if (const std::optional<RecordedTransfer> transfer = transfer_of(args))
      host_.push_back({task.lane, task.start, task.start + task.duration, *transfer, false});
  }

  void add_wait(const JsonValue* args) {
    const auto on = whole_of(args, "wait_on_stream");
    const auto record = whole_of(args, "wait_on_cuda_event_record_corr_id");
    const auto wait = whole_of(args, "correlation");
    const std::string_view stream = text_of(args, "stream");
    if (!on || !record || !wait || *on < 0 || *record < 0 || stream.empty()) return;  // a wait of the host
    const std::int64_t gpu = whole_of(args, "device").value_or(0);
    waits_.push_back({builder_.stream(gpu, stream), builder_.stream(gpu, std::to_string(*on)), *wait, *record});
  }

  static bool args_name_collective(const JsonValue* args) {
    return collective_named(text_of(args, "Collective name")).has_value();
  }

  /// What arguments say of a collective; nothing if they name none.
  std::optional<RecordedTransfer> transfer_of(const JsonValue* args) {
    const auto kind = collective_named(text_of(args, "Collective name"));
    if (!kind) return std::nullopt;
    RecordedTransfer transfer;
    transfer.kind = *kind;
    const std::string_view type = text_of(args, "dtype");
    const std::optional<std::int64_t> size = bytes_of_type(type);
    if (!size) builder_.not_understood(fmt::format("type of numbers \"{}\"", type));
    const auto bytes = [&](std::string_view name) -> std::optional<Bytes> {
      const auto elements = whole_of(args, name);
      if (!size || !elements || *elements < 0) return std::nullopt;
      return Bytes{*elements} * *size;
    };
    transfer.in = bytes("In msg nelems");
    transfer.out = bytes("Out msg nelems");
    if (const std::string_view name = text_of(args, "Process Group Name"); !name.empty())
      transfer.group = builder_.group(
          name, listed_numbers(text_of(args, "Process Group Ranks")).value_or(std::vector<std::int64_t>{}),
          std::max(std::int64_t{0}, whole_of(args, "Group size").value_or(0)));
    if (transfer.kind == RecordedCollective::send) transfer.peer = whole_of(args, "Dst Rank");
    if (transfer.kind == RecordedCollective::receive) transfer.peer = whole_of(args, "Src Rank");
    return transfer;
  }

  std::uint32_t thread_of(const JsonValue& event) {
    return builder_.thread(fmt::format("{}/{}", text_of(&event, "pid"), text_of(&event, "tid")));
  }

  void set_rank(std::int64_t rank) {
    builder_.rank().rank = rank;
    builder_.rank().rank_known = true;
  }

  void read_document(const JsonValue& rest) {
    RecordedRank& rank = builder_.rank();
    rank.version = text_of(&rest, "schemaVersion");
    if (const JsonValue* const job = rest.find("distributedInfo")) {
      if (const auto number = whole_of(job, "rank"); number && *number >= 0) set_rank(*number);
      if (const JsonValue* const groups = job->find("pg_config"))
        for (const JsonValue& group : groups->items) builder_.add_group(group);
    }
    for (const RecordedLane& lane : rank.lanes)
      if (lane.device && rank.device.empty()) rank.device = kineto_device_name(rest, lane.gpu);
  }

  void link_launches() {
    for (const auto& [task, correlation] : launched_)
      if (const auto call = calls_.find(correlation); call != calls_.end())
        builder_.rank().tasks[task].launch = call->second;
    std::ranges::stable_sort(host_, {}, [](const HostCollective& each) { return std::pair{each.lane, each.start}; });
  }

  /// What the host said when it launched the kernel of a collective of which the kernel itself says less.
  void name_collective(const RecordedTask& task) {
    RecordedRank& rank = builder_.rank();
    if (task.kind != RecordedKind::collective || task.launch == kNoTask) return;
    RecordedTransfer& transfer = rank.transfers[task.transfer];
    if (transfer.in || transfer.out) return;
    const RecordedTask& call = rank.tasks[task.launch];
    auto after = std::ranges::upper_bound(host_, std::pair{call.lane, call.start}, {}, [](const HostCollective& each) {
      return std::pair{each.lane, each.start};
    });
    if (after == host_.begin()) return;
    HostCollective& said = *--after;
    if (said.lane != call.lane || said.end < call.start) return;
    if (said.taken) {  // a further kernel of the same call: its bytes are counted already
      transfer.kind = said.transfer.kind;
      transfer.group = said.transfer.group;
      return;
    }
    said.taken = true;
    transfer = said.transfer;
  }

  /// What a stream does next after it waits needs what the other stream was given before the event.
  void order_streams() {
    RecordedRank& rank = builder_.rank();
    if (waits_.empty()) return;
    std::vector<std::vector<std::pair<Time, std::uint32_t>>> given(rank.lanes.size());  // by start of the launch
    for (std::uint32_t i = 0; i < rank.tasks.size(); ++i)
      if (const RecordedTask& task = rank.tasks[i]; on_device(task.kind) && task.launch != kNoTask)
        given[task.lane].emplace_back(rank.tasks[task.launch].start, i);
    for (auto& lane : given) std::ranges::sort(lane);
    for (const StreamWait& wait : waits_) {
      const auto waited = calls_.find(wait.wait_call), recorded = calls_.find(wait.record_call);
      if (waited == calls_.end() || recorded == calls_.end()) continue;
      const auto& own = given[wait.stream];
      const auto& other = given[wait.on_stream];
      const auto next = std::ranges::lower_bound(own, std::pair{rank.tasks[waited->second].start, std::uint32_t{0}});
      const auto behind = std::ranges::upper_bound(other, std::pair{rank.tasks[recorded->second].start, kNoTask});
      if (next != own.end() && behind != other.begin()) builder_.need(next->second, std::prev(behind)->second);
    }
  }

  RecordedRankBuilder builder_;
  std::int64_t index_ = 0;
  std::unordered_map<std::int64_t, std::uint32_t> calls_;         ///< tasks by correlation
  std::vector<std::pair<std::uint32_t, std::int64_t>> launched_;  ///< tasks with their correlations
  std::vector<HostCollective> host_;                              ///< by lane and start
  std::vector<StreamWait> waits_;
};

}  // namespace

RecordedRank read_kineto_recording(ByteSource& source, const std::string& file, bool array) {
  TidiedJson tidied{source, false};
  KinetoRecorder recorder{file};
  const auto add = [&](const JsonValue& event) { recorder.add(event); };
  if (!array) return recorder.take(stream_json(tidied, file, "traceEvents", add));
  stream_json_array(tidied, file, add);
  return recorder.take(JsonValue{});
}

}  // namespace contend

#include "traces/recording/production_log.hpp"

#include "text/decimal.hpp"
#include "text/json_reader.hpp"
#include "traces/recording/communication_names.hpp"
#include "traces/recording/json_fields.hpp"
#include "traces/recording/recording_builder.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

using State = LoggedOperation::State;

enum class LogFormat : std::uint8_t { none, inspector, flight_recorder, pickle };

LogFormat format_of(std::string_view head) {
  const auto has = [&](std::string_view part) { return head.find(part) != std::string_view::npos; };
  const bool is_flight = has("pg_config") || has("record_id");
  if (head.starts_with('\x80')) return is_flight ? LogFormat::pickle : LogFormat::none;
  if (!head.starts_with('{') && !head.starts_with('[')) return LogFormat::none;
  if (has("\"coll_perf\"") || has("\"p2p_perf\"")) return LogFormat::inspector;
  return is_flight && (has("\"pg_config\"") || has("\"record_id\"")) ? LogFormat::flight_recorder : LogFormat::none;
}

std::vector<std::string> logs_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (const std::filesystem::directory_entry& each : std::filesystem::directory_iterator{path, error})
    if (each.is_regular_file(error) && !each.path().filename().string().starts_with('.'))
      files.push_back(each.path().string());
  std::ranges::sort(files);
  return files;
}

/// The group of that name and ranks, whose size is kept.
std::size_t group_of(ProductionLog& log, std::string_view name, const std::vector<std::int64_t>& ranks,
                     std::int64_t size) {
  const auto fits = [&](const RecordedGroup& each) { return each.name == name && each.ranks == ranks; };
  const auto found = std::ranges::find_if(log.groups, fits);
  if (found != log.groups.end()) return static_cast<std::size_t>(found - log.groups.begin());
  log.groups.push_back({std::string{name}, ranks, size});
  return log.groups.size() - 1;
}

/// Reads the objects of NCCL Inspector.
class InspectorReader {
 public:
  InspectorReader(ProductionLog& log, std::int64_t rank) : log_{log}, rank_{rank} {}

  void add(const JsonValue& object) {
    if (const JsonValue* const header = object.find("header")) {
      const std::string_view name = text_of(header, "comm_name");
      size_ = whole_of(header, "n_ranks").value_or(0);
      rank_ = whole_of(header, "rank").value_or(rank_);
      group_ = group_of(log_, name.empty() ? text_of(header, "id") : name, {}, size_);
      log_.ranks.insert(rank_);
    }
    for (const bool message : {false, true})
      if (const JsonValue* const perf = object.find(message ? "p2p_perf" : "coll_perf")) add(*perf, message);
  }

 private:
  void add(const JsonValue& perf, bool message) {
    const std::string prefix = message ? "p2p" : "coll";
    const std::string_view name = text_of(&perf, prefix);
    const std::optional<RecordedCollective> kind = collective_named(name);
    const auto bytes = whole_of(&perf, prefix + "_msg_size_bytes");
    const auto duration = microseconds_of(perf, prefix + "_exec_time_us");
    if (!group_ || !kind || !bytes || *bytes < 0 || !duration) {
      ++log_.not_understood[fmt::format("operation `{}` without communicator, kind, size or time", name)];
      return;
    }
    LoggedOperation made;
    made.rank = rank_;
    made.group = *group_;
    made.kind = *kind;
    made.name = name;
    made.number = whole_of(&perf, prefix + "_sn").value_or(0);
    const bool is_share = *kind == RecordedCollective::all_gather || *kind == RecordedCollective::reduce_scatter;
    made.bytes = Bytes{*bytes} * (is_share ? std::max(size_, std::int64_t{1}) : 1);
    made.duration = *duration;
    log_.operations.push_back(std::move(made));
  }

  ProductionLog& log_;
  std::int64_t rank_ = 0, size_ = 0;
  std::optional<std::size_t> group_;
};

/// The bytes of tensors by their shapes and types; nothing if a type isn't known.
std::optional<Bytes> bytes_of(const JsonValue& entry, std::string_view sizes, std::string_view types) {
  const JsonValue* const shapes = entry.find(sizes);
  const JsonValue* const names = entry.find(types);
  if (shapes == nullptr || names == nullptr || shapes->items.size() != names->items.size()) return std::nullopt;
  Bytes sum;
  for (std::size_t i = 0; i < shapes->items.size(); ++i) {
    const std::optional<std::int64_t> bytes = bytes_of_type(names->items[i].text);
    if (!bytes) return std::nullopt;
    Bytes tensor{*bytes};
    for (const JsonValue& each : shapes->items[i].items) {
      const std::optional<std::int64_t> length = whole_value(each.text);
      if (!length || *length < 0) return std::nullopt;
      tensor = tensor * *length;
    }
    sum += tensor;
  }
  return sum;
}

/// The ranks of a process group, by its number or name; empty if they aren't said.
std::vector<std::int64_t> ranks_of(const JsonValue& document, std::string_view name, std::string_view number) {
  const JsonValue* const groups = document.find("pg_config");
  if (groups == nullptr) return {};
  for (std::size_t i = 0; i < groups->names.size(); ++i)
    if (groups->names[i] == name || groups->names[i] == number || text_of(&groups->items[i], "name") == name)
      return listed_numbers(text_of(&groups->items[i], "ranks")).value_or(std::vector<std::int64_t>{});
  return {};
}

void add_entry(const JsonValue& document, const JsonValue& entry, std::int64_t rank, ProductionLog& log) {
  const std::string_view name = text_of(&entry, "profiling_name");
  const JsonValue* const group = entry.find("process_group");
  const std::string group_name = group == nullptr || group->items.empty() ? std::string{} : group->items[0].text;
  const std::optional<RecordedCollective> kind = collective_named(name);
  if (!kind) {
    ++log.not_understood[fmt::format("operation `{}`", name)];
    return;
  }
  const std::vector<std::int64_t> ranks = ranks_of(document, group_name, text_of(&entry, "pg_id"));
  LoggedOperation made;
  made.rank = rank;
  made.kind = *kind;
  made.name = name;
  made.group = group_of(log, group_name, ranks, static_cast<std::int64_t>(ranks.size()));
  const JsonValue* const message = entry.find("is_p2p");
  const bool is_message = message != nullptr && message->boolean;
  made.number = whole_of(&entry, is_message ? "p2p_seq_id" : "collective_seq_id").value_or(0);
  const bool gathers = *kind == RecordedCollective::all_gather || *kind == RecordedCollective::receive;
  made.bytes = bytes_of(entry, gathers ? "output_sizes" : "input_sizes", gathers ? "output_dtypes" : "input_dtypes");
  constexpr int kNsInMs = 6;
  const ScaledDecimal ms = parse_scaled(text_of(&entry, "duration_ms"), kNsInMs);
  if (ms.error == DecimalError::none && ms.value > 0) made.duration = Time::nanoseconds(ms.value);
  made.created = Time::nanoseconds(std::max(std::int64_t{0}, whole_of(&entry, "time_created_ns").value_or(0)));
  const std::string_view state = text_of(&entry, "state");
  made.state = state == "completed" ? State::completed : state == "started" ? State::started : State::enqueued;
  log.operations.push_back(std::move(made));
}

bool is_message(const LoggedOperation& operation) {
  return operation.kind == RecordedCollective::send || operation.kind == RecordedCollective::receive;
}

/// The collectives of a group, by rank and number.
using OfRanks = std::map<std::int64_t, std::map<std::int64_t, const LoggedOperation*>>;

/// The smallest number of a collective that a rank has not completed or, though others have it, not enqueued.
std::optional<std::int64_t> first_open(const OfRanks& ranks) {
  std::int64_t last = 0;
  for (const auto& [rank, operations] : ranks)
    if (!operations.empty()) last = std::max(last, operations.rbegin()->first);
  std::optional<std::int64_t> first;
  const auto take = [&](std::int64_t number) { first = std::min(first.value_or(number), number); };
  for (const auto& [rank, operations] : ranks) {
    for (const auto& [number, operation] : operations)
      if (operation->state != State::completed) take(number);
    if (!operations.empty() && operations.rbegin()->first < last) take(operations.rbegin()->first + 1);
  }
  return first;
}

std::optional<WaitingCollective> waiting_in(const RecordedGroup& group, OfRanks ranks, const ProductionLog& log) {
  for (const std::int64_t member : group.ranks)
    if (log.ranks.contains(member)) ranks[member];
  const std::optional<std::int64_t> open = first_open(ranks);
  if (!open) return std::nullopt;
  WaitingCollective waiting;
  const LoggedOperation* first = nullptr;
  for (const auto& [rank, operations] : ranks) {
    const auto found = operations.find(*open);
    if (found == operations.end()) {
      const bool is_behind = operations.empty() || operations.rbegin()->first < *open;
      if (is_behind) waiting.missing.push_back(rank);  // else its buffer has lost what the rank had completed
      continue;
    }
    const LoggedOperation& own = *found->second;
    if (first == nullptr) first = &own;
    const bool other_size = own.kind != RecordedCollective::all_to_all && own.bytes != first->bytes;
    if (own.kind != first->kind || other_size) waiting.disagrees = true;
    if (own.state == State::started) waiting.started.push_back(rank);
    if (own.state == State::enqueued) waiting.enqueued.push_back(rank);
  }
  if (first == nullptr) return std::nullopt;
  waiting.operation = *first;
  for (const std::int64_t member : group.ranks)
    if (!log.ranks.contains(member)) waiting.without_log.push_back(member);
  return waiting;
}

}  // namespace

bool is_production_log(const std::string& path) {
  const std::vector<std::string> files = logs_of(path);
  for (const std::string& file : files) {
    try {
      const std::unique_ptr<ByteSource> source = open_file(file);
      return format_of(PeekedSource{*source}.head()) != LogFormat::none;
    } catch (const InputError&) {
      if (files.size() == 1) throw;  // in a folder a damaged file doesn't hide the others
    }
  }
  return false;
}

void add_production_log(ByteSource& source, const std::string& file, ProductionLog& log) {
  PeekedSource peeked{source};
  const LogFormat format = format_of(peeked.head());
  if (format == LogFormat::pickle)
    throw InputError{Complaint{
        .file = file,
        .reason = "a pickle of the flight recorder, which may run any program when it is read",
        .hint = "if you trust it: python3 -c 'import json, pickle, sys; json.dump(pickle.load(open(sys.argv[1], "
                "\"rb\")), sys.stdout)' FILE > FILE.json"}};
  const std::string name = format == LogFormat::inspector ? "NCCL Inspector" : "flight recorder";
  if (format == LogFormat::none || (!log.format.empty() && log.format != name))
    throw InputError{Complaint{.file = file,
                               .reason = log.format.empty() ? "is no log of NCCL Inspector or the flight recorder"
                                                            : "is no log of the " + log.format}};
  log.format = name;
  const std::int64_t rank = rank_in_name(file).value_or(static_cast<std::int64_t>(log.ranks.size()));
  if (format == LogFormat::inspector) {
    TidiedJson tidied{peeked, true};
    InspectorReader reader{log, rank};
    stream_json_array(tidied, file, [&](const JsonValue& object) { reader.add(object); });
    return;
  }
  if (!log.ranks.insert(rank).second)
    throw InputError{Complaint{.file = file, .reason = fmt::format("a second log of rank {}", rank)}};
  log.live = true;
  TidiedJson tidied{peeked, false};
  const JsonValue document = read_json(tidied, file);
  if (const JsonValue* const entries = document.find("entries"))
    for (const JsonValue& entry : entries->items) add_entry(document, entry, rank, log);
}

ProductionLog read_production_log(const std::string& path) {
  ProductionLog log;
  const std::vector<std::string> files = logs_of(path);
  for (const std::string& file : files) {
    try {
      const std::unique_ptr<ByteSource> source = open_file(file);
      add_production_log(*source, file, log);
    } catch (const InputError& error) {
      if (files.size() == 1) throw;
      log.faults.insert(log.faults.end(), error.complaints().begin(), error.complaints().end());
    }
  }
  return log;
}

std::vector<LoggedSample> logged_samples(const ProductionLog& log) {
  std::map<std::tuple<std::size_t, std::int64_t, std::int64_t, Bytes>, LoggedSample> shortest;  // -1: of all ranks
  for (const LoggedOperation& each : log.operations) {
    const bool sends = each.kind == RecordedCollective::send;
    const std::optional<TimedExchange> exchange =
        sends ? std::optional{TimedExchange::message} : timed_exchange_named(to_string(each.kind));
    if (!exchange || !each.bytes || each.duration <= Time{}) continue;
    LoggedSample made{each.group, {.exchange = *exchange, .size = *each.bytes, .time = each.duration}};
    made.sample.ranks = sends ? 2 : static_cast<int>(log.groups[each.group].size);
    const auto [known, is_new] =
        shortest.try_emplace({each.group, each.number, sends ? each.rank : -1, *each.bytes}, made);
    if (!is_new) known->second.sample.time = std::min(known->second.sample.time, each.duration);
  }
  std::vector<LoggedSample> samples;
  for (const auto& [key, sample] : shortest) samples.push_back(sample);
  return samples;
}

std::string samples_csv(const std::vector<LoggedSample>& samples) {
  std::string text = "collective,ranks,bytes,time_ns\n";
  for (const LoggedSample& each : samples)
    if (each.sample.ranks > 0)
      text += fmt::format("{},{},{},{}\n", to_string(each.sample.exchange), each.sample.ranks, each.sample.size.count(),
                          each.sample.time.ns());
  return text;
}

std::vector<WaitingCollective> waiting_collectives(const ProductionLog& log) {
  std::map<std::size_t, OfRanks> groups;
  if (!log.live) return {};
  for (const LoggedOperation& each : log.operations)
    if (!is_message(each)) groups[each.group][each.rank][each.number] = &each;
  std::vector<WaitingCollective> waiting;
  for (const auto& [group, ranks] : groups)
    if (std::optional<WaitingCollective> found = waiting_in(log.groups[group], ranks, log))
      waiting.push_back(std::move(*found));
  std::ranges::stable_sort(waiting, {}, [](const WaitingCollective& each) { return each.operation.created; });
  return waiting;
}

}  // namespace contend

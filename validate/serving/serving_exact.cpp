// Cases worked out by hand, and half hours of Azure's traces, to the nanosecond.

#include "models/serving/fleet.hpp"
#include "text/byte_source.hpp"
#include "text/json_reader.hpp"
#include "traces/requests/request_trace.hpp"
#include "validate/serving/plain_serving.hpp"
#include "validate/serving/serving_suite.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {

namespace {

std::int64_t number(const JsonValue& object, std::string_view name, std::int64_t otherwise) {
  const JsonValue* value = object.find(name);
  return value != nullptr ? static_cast<std::int64_t>(value->whole().value_or(0)) : otherwise;
}

std::vector<std::int64_t> numbers(const JsonValue& array) {
  std::vector<std::int64_t> values;
  for (const JsonValue& item : array.items) values.push_back(static_cast<std::int64_t>(item.whole().value_or(0)));
  return values;
}

ServingCase hand_case(const JsonValue& row) {
  ServingCase read;
  const JsonValue& serve = *row.find("serve");
  read.overhead = number(serve, "o", 0);
  read.weights = number(serve, "w", 0);
  read.token = number(serve, "f", 0);
  read.cache = number(serve, "k", 0);
  read.tokens = number(serve, "tokens", ServingCase::kNone);
  read.batch = number(serve, "batch", ServingCase::kNone);
  read.block = number(serve, "block", 1);
  read.blocks = number(serve, "blocks", ServingCase::kNone);
  if (const JsonValue* chunked = serve.find("chunked"); chunked != nullptr) read.chunked = chunked->boolean;
  read.drafts = number(serve, "drafts", 0);
  if (const JsonValue* accepted = serve.find("accepted"); accepted != nullptr) read.accepted = numbers(*accepted);
  read.replicas = static_cast<int>(number(serve, "replicas", 1));
  if (const JsonValue* route = serve.find("route"); route != nullptr) {
    read.route = route->text == "round" ? 0 : route->text == "least" ? 1 : 2;
  }
  if (const JsonValue* apart = serve.find("pd"); apart != nullptr) {
    read.decode = static_cast<int>(number(*apart, "decode", 1));
    read.latency = number(*apart, "latency", 0);
    read.per_token = number(*apart, "per_token", 0);
  }
  if (const JsonValue* scale = serve.find("scale"); scale != nullptr) {
    read.period = number(*scale, "period", 0);
    read.up = static_cast<double>(number(*scale, "up", 0));
    read.down = static_cast<double>(number(*scale, "down", 0));
    read.cold = number(*scale, "cold", 0);
    read.least = static_cast<int>(number(*scale, "least", 1));
    read.most = static_cast<int>(number(*scale, "most", 1));
  }
  for (const JsonValue& request : row.find("requests")->items) {
    std::vector<std::int64_t> values = numbers(request);
    values.resize(5);
    read.requests.push_back({values[0], values[1], values[2], values[3], values[4]});
  }
  return read;
}

bool is_answer(const ServingAnswer& ours, const JsonValue& answer) {
  std::vector<std::pair<std::int64_t, int>> scaled;
  if (const JsonValue* replicas = answer.find("replicas"); replicas != nullptr) {
    for (const JsonValue& change : replicas->items) {
      const std::vector<std::int64_t> values = numbers(change);
      scaled.emplace_back(values.at(0), static_cast<int>(values.at(1)));
    }
  }
  return ours.first == numbers(*answer.find("first")) && ours.end == numbers(*answer.find("end")) &&
         ours.evictions == numbers(*answer.find("evictions")) && ours.scaled == scaled;
}

void add_hand_cases(CheckedTable& table) {
  const std::string path = serving_folder() + "/hand_cases.jsonl";
  const std::string text = read_all(*open_file(path));
  int cases = 0, equal = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.empty()) continue;
    TextSource source{line};
    const JsonValue row = read_json(source, path);
    if (row.find("serve") == nullptr) continue;  // of RL
    ++cases;
    const ServingCase input = hand_case(row);
    const JsonValue& answer = *row.find("answer");
    const bool all = is_answer(serve_by_fleet(input, true), answer) &&
                     is_answer(serve_by_fleet(input, false), answer) && is_answer(serve_plainly(input), answer);
    if (all) ++equal;
    if (!all) table.notes.push_back("differs: " + row.find("id")->text);
  }
  table.checks.push_back({"cases by hand with every instant and eviction equal",
                          static_cast<double>(cases),
                          static_cast<double>(equal),
                          0,
                          {}});
}

struct AzureHalfHour {
  std::string_view file;
  int replicas;
  std::int64_t blocks, ends_ns, last_ns, evictions;
};

/// Of an independent simulation of every step (shared/reference/serving_rl.md, 1.9).
constexpr AzureHalfHour kHalfHours[] = {
    {"conv", 1, 27'000, 9'983'346'676'372'134, 1'803'187'050'096, 0},
    {"conv", 2, 4'000, 9'979'575'047'667'794, 1'802'865'625'960, 0},
    {"code", 1, 27'000, 5'702'710'517'332'014, 1'790'604'004'252, 0},
    {"code", 1, 3'000, 5'703'671'505'788'098, 1'790'604'004'252, 164},
};

void add_half_hour(CheckedTable& table, const AzureHalfHour& row) {
  const RequestTrace trace = read_request_trace(fmt::format("{}/azure/{}_first_30min.csv", serving_folder(), row.file));
  ReplicaSpec kind;
  kind.law.overhead = 1'000'000'000;
  kind.law.weights = 7'000'000'000;
  kind.law.token = 30'000'000;
  kind.law.cache = 46'000;
  kind.batch = 256;
  kind.block = 16;
  kind.blocks = row.blocks;
  FleetSpec spec;
  spec.replica = kind;
  spec.replicas = row.replicas;
  Fleet fleet{spec};
  for (const ServedRequest& request : trace.requests) fleet.submit(request);
  for (Time now = fleet.next(); now != Time::never(); now = fleet.next()) {
    fleet.advance(now);
    fleet.begin_steps();
  }
  std::int64_t ends = 0, last = 0, evictions = 0;
  for (const RequestResult& record : fleet.records()) {
    ends += record.end.ns();
    last = std::max(last, record.end.ns());
    evictions += record.evictions;
  }
  const std::string name = fmt::format("Azure {}, {} x {} blocks", row.file, row.replicas, row.blocks);
  table.checks.push_back(
      {name + ": sum of all ends, ns", static_cast<double>(row.ends_ns), static_cast<double>(ends), 0, {}});
  table.checks.push_back({name + ": last end, ns", static_cast<double>(row.last_ns), static_cast<double>(last), 0, {}});
  // One more than the number, because 0 has no deviation.
  table.checks.push_back(
      {name + ": evictions + 1", static_cast<double>(row.evictions + 1), static_cast<double>(evictions + 1), 0, {}});
}

}  // namespace

CheckedTable serving_exact() {
  CheckedTable table;
  table.title = "cases by hand and whole half hours";
  if (!std::filesystem::exists(serving_folder())) {
    table.skipped = fmt::format("there is no {} (set CONTEND_DATA)", serving_folder());
    return table;
  }
  add_hand_cases(table);
  for (const AzureHalfHour& row : kHalfHours) add_half_hour(table, row);
  constexpr std::pair<std::int64_t, std::int64_t> kHits[] = {
      {1'000, 2'192'384}, {10'000, 11'024'410}, {30'000, 16'398'800}, {std::int64_t{1} << 40, 17'647'225}};
  RequestTrace mooncake = read_request_trace(serving_folder() + "/mooncake/conversation_first_4000.jsonl");
  for (const auto& [blocks, hits] : kHits) {
    table.checks.push_back({fmt::format("Mooncake, cache of {} blocks: hit tokens", blocks),
                            static_cast<double>(hits),
                            static_cast<double>(take_prefix_hits(mooncake, blocks)),
                            0,
                            {}});
  }
  return table;
}

}  // namespace contend

// Reads graphs that are written as text (graph_from_text).

#include "sim/error.hpp"
#include "sim/graph.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {
namespace {

std::vector<std::string_view> words_of(std::string_view item) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = item.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return words;
    item.remove_prefix(begin);
    const std::size_t end = std::min(item.find_first_of(" \t"), item.size());
    words.push_back(item.substr(0, end));
    item.remove_prefix(end);
  }
}

class TextReader {
 public:
  void read(std::string_view item) {
    item_ = item;
    const auto words = words_of(item);
    if (words.empty()) return;
    if (words.size() == 3 && (words[1] == "->" || words[1] == "=>")) {
      graph.add_dependency(op(words[0]), op(words[2]), words[1] == "=>" ? 1 : 0);
    } else if (words.size() == 3 && words[0] == "role") {
      roles_.emplace_back(words[1]);
      graph.add_role(std::string{words[1]}, static_cast<int>(number(words[2])));
    } else if (words.size() == 3 && words[0] == "late") {
      graph.leave_behind(role(words[1]), static_cast<int>(number(words[2])));
    } else if (words.size() == 6 && words[0] == "late") {
      graph.leave_behind(role(words[1]), static_cast<int>(number(words[2])),
                         Patience{static_cast<std::int32_t>(number(words[3])), static_cast<int>(number(words[4])),
                                  static_cast<int>(number(words[5]))});
    } else if (words.size() >= 2 && words[0] == "cycle") {
      std::vector<std::int64_t> lengths;
      for (std::size_t i = 1; i < words.size(); ++i) {
        lengths.push_back(number(words[i]));
        if (lengths.back() < 1 || lengths.back() > IterationPhases::kLongestCycle) fail();
      }
      graph.set_phases(IterationPhases::cycle(std::move(lengths)));
    } else if (words.size() == 2 && words[0] == "in-flight") {
      graph.set_in_flight(static_cast<int>(number(words[1])));
    } else if (words.size() == 2 && words[0] == "warm-up") {
      graph.set_phases(IterationPhases::warm_up(share(words[1])));
    } else if (!reads_name(words) && !reads_change(words) && !reads_operation(words)) {
      fail();
    }
  }

  IterationGraph graph;

 private:
  [[noreturn]] void fail() const { throw InputError{fmt::format("iteration graph: can't read `{}`", item_)}; }
  using Words = std::vector<std::string_view>;
  /// Reads what operations name beside their roles.
  bool reads_name(const Words& words) {
    if (words.size() == 4 && words[0] == "channel") {
      channels_.emplace_back(words[1]);
      graph.add_channel(std::string{words[1]}, static_cast<int>(number(words[2])), Bytes{number(words[3])});
    } else if (words.size() == 2 && (words[0] == "counter" || words[0] == "shared-counter")) {
      counters_.emplace_back(words[1]);
      graph.add_counter(std::string{words[1]}, words[0] == "shared-counter");
    } else {
      return false;
    }
    return true;
  }
  /// Reads what changes an operation.
  bool reads_change(const Words& words) {
    if (words.size() == 3 && words[0] == "phase") {
      graph.put_into_phase(static_cast<std::size_t>(number(words[1])), op(words[2]));
    } else if (words.size() == 3 && words[0] == "repeat") {
      graph.repeat(op(words[1]), static_cast<std::int32_t>(number(words[2])));
    } else if (words.size() == 3 && words[0] == "join") {
      graph.join_roles(op(words[1]), static_cast<std::int32_t>(number(words[2])));
    } else if (words.size() == 3 && words[0] == "priority") {
      graph.prioritise(op(words[1]), static_cast<std::int32_t>(number(words[2])));
    } else if (words.size() == 6 && words[0] == "host") {
      const auto bytes = [&](std::size_t i) { return Bytes{number(words[i])}; };
      graph.move_on_host(op(words[1]), {.out = bytes(2), .in = bytes(3), .memory = bytes(4), .nvme = bytes(5)});
    } else if (words.size() == 4 && words[0] == "put") {
      graph.put_into(lookup<ChannelId>(channels_, words[2]), op(words[1]), static_cast<std::int32_t>(number(words[3])));
    } else if (words.size() == 4 && words[0] == "groups") {
      graph.put_into_groups(op(words[1]), {static_cast<int>(number(words[2])), static_cast<int>(number(words[3]))});
    } else if (words.size() >= 3 && words[0] == "lists") {
      std::vector<std::vector<int>> groups;
      for (std::size_t i = 2; i < words.size(); ++i) groups.push_back(ranks_of(words[i]));
      graph.put_into_groups(op(words[1]), {.lists = std::make_shared<const RankLists>(std::move(groups))});
    } else {
      return false;
    }
    return true;
  }
  /// Ranks with commas between them.
  std::vector<int> ranks_of(std::string_view word) const {
    std::vector<int> ranks;
    while (true) {
      const std::size_t end = std::min(word.find(','), word.size());
      ranks.push_back(static_cast<int>(number(word.substr(0, end))));
      if (end == word.size()) return ranks;
      word.remove_prefix(end + 1);
    }
  }
  bool reads_operation(const Words& words) {
    if (words.size() < 4) return false;
    const std::string name{words[1]};
    const auto time = [&] { return Time::nanoseconds(number(words[3])); };
    if (words.size() == 4 && words[0] == "compute") {
      graph.add_compute(name, role(words[2]), time());
    } else if (words.size() == 4 && words[0] == "timer") {
      graph.add_timer(name, role(words[2]), time());
    } else if (words.size() == 5 && words[0] == "task") {
      const std::optional<Lane> lane = lane_named(words[4]);
      if (!lane) fail();
      graph.add_task(name, role(words[2]), time(), *lane);
    } else if (words.size() == 5 && words[0] == "post") {
      graph.add_post(name, role(words[2]), lookup<CounterId>(counters_, words[3]), number(words[4]));
    } else if (words.size() == 6 && words[0] == "await") {
      graph.add_await(name, role(words[2]), lookup<CounterId>(counters_, words[3]), number(words[4]), number(words[5]));
    } else if (words.size() == 5 && (words[0] == "message" || words[0] == "joint-message")) {
      const auto add = words[0] == "message" ? &IterationGraph::add_message : &IterationGraph::add_joint_message;
      const RoleId from = role(words[2]);
      (graph.*add)(name, from, role(words[3]), Bytes{number(words[4])});
    } else {
      std::size_t kind = 0;
      while (kind < kCollectiveKinds && name_of(static_cast<CollectiveKind>(kind)) != words[0]) ++kind;
      if (words.size() != 4 || kind == kCollectiveKinds) return false;
      graph.add_collective(name, static_cast<CollectiveKind>(kind), role(words[2]), Bytes{number(words[3])});
    }
    ops_.emplace_back(words[1]);
    return true;
  }
  std::int64_t number(std::string_view word) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) fail();
    return value;
  }
  double share(std::string_view word) const {
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || !(value >= 0 && value <= 1)) fail();
    return value;
  }
  template <class IdType>
  IdType lookup(const std::vector<std::string_view>& names, std::string_view name) const {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) fail();
    return IdType{static_cast<std::size_t>(found - names.begin())};
  }
  RoleId role(std::string_view name) const { return lookup<RoleId>(roles_, name); }
  OpId op(std::string_view name) const { return lookup<OpId>(ops_, name); }

  std::string_view item_;
  std::vector<std::string_view> roles_, channels_, counters_, ops_;
};

}  // namespace

IterationGraph graph_from_text(std::string_view text) {
  TextReader reader;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("|\n"), text.size());
    reader.read(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  reader.graph.validate();
  return std::move(reader.graph);
}

}  // namespace contend

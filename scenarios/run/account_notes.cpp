#include "scenarios/run/account_notes.hpp"

#include "policies/registry.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace contend {
namespace {

using Row = PolicyRow<SchedulingPolicy>;
using Members = std::vector<std::string_view>;

constexpr std::string_view kGuarantees = "guarantees";

bool looks_at(const Row& row, const Parameters& parameters, std::string_view member) {
  if (row.accounts == nullptr) return false;
  const AccountUse use = row.accounts(parameters);
  if (member == "weight") return use.weight;
  if (member == "parent") return use.parent;
  if (member == "priority") return use.priority;
  if (member == "job_factor") return use.job_factor;
  if (member == "users") return use.users;
  if (member == kGuarantees) return use.guarantees;
  return std::ranges::find(use.rules, member) != use.rules.end();
}

Parameters usual_parameters(const Row& row) {
  std::vector<std::pair<std::string, ParameterValue>> values;
  for (const ParameterInfo& each : row.parameters)
    values.emplace_back(std::string{each.name}, ParameterValue{each.default_value});
  return Parameters{std::move(values)};
}

/// Another value of a parameter, and how a text says so; nothing for a number above 0, or for a word.
std::optional<std::string> switch_over(const std::string& name, ParameterValue& value) {
  if (auto* const is_on = std::get_if<bool>(&value)) {
    *is_on = !*is_on;
    return fmt::format("{}: {}", name, *is_on);
  }
  if (auto* const number = std::get_if<double>(&value); number != nullptr && *number == 0) {
    *number = 1;
    return fmt::format("{} above 0", name);
  }
  return std::nullopt;
}

/// The parameter with which the policy looks at the member; empty: it does so with these; nothing: no parameter does.
std::optional<std::string> way_to(const Row& row, const Parameters& parameters, std::string_view member) {
  if (looks_at(row, parameters, member)) return std::string{};
  for (std::size_t i = 0; i < parameters.values().size(); ++i) {
    std::vector<std::pair<std::string, ParameterValue>> values = parameters.values();
    const std::optional<std::string> way = switch_over(values[i].first, values[i].second);
    if (way && looks_at(row, Parameters{std::move(values)}, member)) return way;
  }
  return std::nullopt;
}

/// `NAME`, or `NAME with PARAMETER`, for a policy that looks at all of the members; else nothing.
std::optional<std::string> name_with_ways(const Row& row, const Members& members) {
  std::vector<std::string> ways;
  const Parameters usual = usual_parameters(row);
  for (const std::string_view member : members) {
    const std::optional<std::string> way = way_to(row, usual, member);
    if (!way) return std::nullopt;
    if (!way->empty() && std::ranges::find(ways, *way) == ways.end()) ways.push_back(*way);
  }
  return ways.empty() ? std::string{row.name} : fmt::format("{} with {}", row.name, join(ways, " and "));
}

/// The policies that look at all of the members: `drf and kueue with fair_sharing: true`. Empty: no policy does.
std::string who_looks_at(const Members& members, std::string_view one = "", std::string_view several = "") {
  std::vector<std::string> names;
  for (const Row& row : scheduling_policies())
    if (std::optional<std::string> name = name_with_ways(row, members)) names.push_back(std::move(*name));
  if (names.empty()) return {};
  const std::string last = std::move(names.back());
  names.pop_back();
  return names.empty() ? fmt::format("{}{}", last, one) : fmt::format("{} and {}{}", join(names), last, several);
}

/// What to do about members that the policy doesn't look at.
std::string advice(const Row& row, const Parameters& parameters, const Members& members) {
  std::vector<std::string> parts;
  Members others;
  for (const std::string_view member : members) {
    if (const std::optional<std::string> way = way_to(row, parameters, member))
      parts.push_back(fmt::format("with {} it looks at {}", *way, member));
    else
      others.push_back(member);
  }
  if (others.empty()) return join(parts, "; ");
  if (const std::string who = who_looks_at(others, " does", " do"); !who.empty()) {
    parts.push_back(parts.empty() ? who : fmt::format("at {} {}", fmt::join(others, ", "), who));
    return join(parts, "; ");
  }
  for (const std::string_view member : others)
    parts.push_back(fmt::format("at {} {}", member, who_looks_at({member}, " does", " do")));
  return join(parts, "; ");
}

/// The members that are given, of the accounts themselves.
Members given_members(const std::vector<NamedVirtualCluster>& vcs) {
  Members given;
  const auto add = [&](std::string_view member, const auto& is_given) {
    if (std::ranges::any_of(vcs, is_given)) given.push_back(member);
  };
  // A weight of 1 in place of servers and gpus only makes an account.
  add("weight", [](const auto& vc) { return vc.weight && (*vc.weight != 1 || vc.servers || vc.gpus); });
  add("parent", [](const auto& vc) { return !vc.parent.empty(); });
  add("priority", [](const auto& vc) { return vc.priority != 1; });
  add("job_factor", [](const auto& vc) { return vc.job_factor != 1; });
  add("users", [](const auto& vc) { return !vc.users.empty(); });
  return given;
}

/// The rules of queues that are given.
Members given_rules(const std::vector<NamedVirtualCluster>& vcs) {
  Members given;
  const auto add = [&](std::string_view member, const auto& is_given) {
    if (std::ranges::any_of(vcs, [&](const auto& vc) { return is_given(vc.rules); })) given.push_back(member);
  };
  add("borrowing_limit", [](const auto& rules) { return rules.borrowing_limit.has_value(); });
  add("lending_limit", [](const auto& rules) { return rules.lending_limit.has_value(); });
  add("guarantee", [](const auto& rules) { return rules.guarantee.has_value(); });
  add("strict", [](const auto& rules) { return rules.strict; });
  add("reclaimable", [](const auto& rules) { return !rules.reclaimable; });
  add("preempt_within", [](const auto& rules) { return rules.within != PreemptionRule::never; });
  add("reclaim", [](const auto& rules) { return rules.reclaim != PreemptionRule::never; });
  add("borrow_preempting", [](const auto& rules) { return rules.borrow_preempting; });
  return given;
}

}  // namespace

std::vector<std::string> account_notes(const std::vector<NamedVirtualCluster>& vcs, const PolicyChoice& scheduling) {
  const auto row = std::ranges::find(scheduling_policies(), scheduling.name,
                                     [](const auto& each) { return std::string{each.name}; });
  const Parameters& parameters = scheduling.parameters;
  std::vector<std::string> notes;
  if (!looks_at(*row, parameters, kGuarantees) &&
      std::ranges::any_of(vcs, [](const auto& vc) { return vc.may_borrow(); }))
    notes.push_back(
        fmt::format("cluster.vcs: under the policy `{}` `gpus` guarantees nothing to virtual clusters with "
                    "`borrow: true`; under {} it does",
                    row->name, who_looks_at({kGuarantees})));
  for (Members members : {given_rules(vcs), given_members(vcs)}) {
    std::erase_if(members, [&](std::string_view each) { return looks_at(*row, parameters, each); });
    if (!members.empty())
      notes.push_back(fmt::format("cluster.vcs: the policy `{}` doesn't look at {}; {}", row->name,
                                  fmt::join(members, ", "), advice(*row, parameters, members)));
  }
  return notes;
}

}  // namespace contend

#include "tests/policies/policy_kit.hpp"

#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

template <class Port>
std::vector<std::string_view> names(std::span<const PolicyRow<Port>> table) {
  std::vector<std::string_view> result;
  for (const auto& row : table) result.push_back(row.name);
  return result;
}

template <class Port>
void check_rows(std::span<const PolicyRow<Port>> table) {
  std::set<std::string_view> seen;
  for (const PolicyRow<Port>& row : table) {
    INFO(row.name);
    CHECK(seen.insert(row.name).second);
    CHECK(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos);
    CHECK_FALSE(row.summary.empty());
    CHECK_FALSE(row.source.empty());
    std::set<std::string_view> parameters;
    for (const ParameterInfo& info : row.parameters) {
      INFO(info.name);
      CHECK(parameters.insert(info.name).second);
      CHECK_FALSE(info.text.empty());
      if (const auto* value = std::get_if<std::int64_t>(&info.default_value)) {
        CHECK(info.minimum <= static_cast<double>(*value));
        CHECK(static_cast<double>(*value) <= info.maximum);
      }
    }
    // With nothing but the defaults of its own rows, every factory makes a policy.
    CHECK(make_policy(table, {std::string{row.name}, {}}, {1, TimePerByte{1}, TimePerByte{0.25}}) != nullptr);
  }
}

}  // namespace

TEST_CASE("the tables hold the policies of the study, each name once, documented and buildable") {
  check_rows(scheduling_policies());
  check_rows(placement_policies());
  check_rows(communication_policies());
  using Names = std::vector<std::string_view>;
  CHECK(names(scheduling_policies()) == Names{"fifo", "sjf", "srtf", "srsf", "conservative", "dlas", "dlas-gpu", "drf",
                                              "easy", "fair-share", "fit-first", "gittins", "las", "priority",
                                              "smallest-first"});
  CHECK(names(placement_policies()) == Names{"consolidated", "consolidated-or-wait", "first-fit", "list-scheduling",
                                             "lwf", "random", "spread", "topology-aware", "worst-fit", "yarn"});
  CHECK(names(communication_policies()) == Names{"ada-dual", "srsf"});
}

TEST_CASE("parameters are found by name and type") {
  const Parameters parameters{{{"kappa", std::int64_t{4}}, {"strict", true}}};
  CHECK(parameters.get<std::int64_t>("kappa") == 4);
  CHECK(parameters.get<bool>("strict"));
  CHECK_THROWS_AS(static_cast<void>(parameters.get<double>("kappa")), std::bad_variant_access);
}

#include "validate/public/public_suite.hpp"

#include "sim/error.hpp"
#include "tests/near.hpp"
#include "validate/public/left_out.hpp"
#include "validate/public/public_set.hpp"

#include <set>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr std::string_view kSet = R"(
- name: small
  title: a title
  source: a source
  rows: rows.csv
  measured: time_ms
  gpus: ${n}
  per_server: |
    [kind = tray] 4
    [!kind = tray] 8
  label: "${model} on ${n}"
  words: {model: {big: llama-3-70b, small: llama-3-8b}}
  scenario: |
    servers: ${servers}
    width: ${4*h}
      [t > 1] tensor: ${t}
      [t > 1 and flags has A=1] overlap: true
      [empty] empty: ${empty}
)";

PublicSet small_set() {
  return read_public_sets(kSet).front();
}

std::string filled(const char* line) {
  const PublicSet set = small_set();
  const CsvTable table = parse_csv(std::string{"model,n,kind,h,t,flags,empty,time_ms\n"} + line, "rows.csv");
  const std::optional<PublicRow> row = PublicRow::of(set, table, table.rows.front());
  return row ? row->filled(set.label) + "|" + row->filled(set.scenario) : "none";
}

}  // namespace

TEST_CASE("a row of public measurements fills the template of its set") {
  CHECK(filled("big,12,tray,10,2,A=1;B=0,,5") ==
        "llama-3-70b on 12|servers: 3\nwidth: 40\n  tensor: 2\n  overlap: true\n");
  CHECK(filled("small,12,box,10,1 (2),A=1,x,5") == "llama-3-8b on 12|servers: 2\nwidth: 40\n  empty: x\n");
  CHECK(filled("big,12,tray,10,2,A=0,,5") == "llama-3-70b on 12|servers: 3\nwidth: 40\n  tensor: 2\n");
  CHECK(filled("other,12,tray,10,2,A=0,,5") == "none");
  CHECK_THROWS_AS((void)filled("big,many,tray,10,2,A=0,,5"), InputError);
}

TEST_CASE("rows of adapters are a set of their own, which no interval is made of") {
  for (const PublicSet& each : public_sets()) {
    INFO(each.name);
    CHECK(each.apart == (each.name == "mlperf-lora"));
    const auto benchmarks = each.words.find("benchmark");
    const bool has_lora = benchmarks != each.words.end() && benchmarks->second.contains("llama2_70b_lora");
    CHECK(has_lora == each.apart);
    CHECK((each.scenario.find("adapter:") != std::string::npos) == each.apart);
  }
}

TEST_CASE("wrong sets of public measurements are refused with their place") {
  const auto reason = [](std::string text) -> std::string {
    try {
      (void)read_public_sets(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  };
  CHECK(reason("- name: a\n").find("sets.yaml:1: a set needs `title`") != std::string::npos);
  CHECK(reason("- names: a\n").find("sets.yaml:1: names: unknown member of a set") != std::string::npos);
  CHECK(reason("name: a\n").find("expected a list of sets") != std::string::npos);
  const PublicSet set = small_set();
  const CsvTable table = parse_csv("model,n,kind,h,t,flags,empty,time_ms\nbig,8,box,1,1,,,5\n", "rows.csv");
  const PublicRow row = *PublicRow::of(set, table, table.rows.front());
  CHECK_THROWS_AS((void)row.filled("${nothing}"), InputError);
  CHECK_THROWS_AS((void)row.filled("${n"), InputError);
  CHECK_THROWS_AS((void)row.filled("[n is 8] x"), InputError);
  CHECK_THROWS_AS((void)row.filled("${2*kind}"), InputError);
  CHECK(row.filled("${6*n/2}") == "24");
  CHECK_THROWS_AS((void)row.filled("${n/3}"), InputError);
  CHECK_THROWS_AS((void)row.filled("${n/0}"), InputError);
}

TEST_CASE("the shipped sets of public measurements can be read and differ in name") {
  std::set<std::string> names;
  for (const PublicSet& set : public_sets()) CHECK(names.insert(set.name).second);
  CHECK(names.size() >= 9);
}

TEST_CASE("errors of predictions and the regret of a choice, by hand") {
  const PredictionErrors errors = prediction_errors({-0.1, 0.3, 0.2, -0.4});
  CHECK(errors.rows == 4);
  CHECK(errors.mean == near(0.25, 1e-12));
  CHECK(errors.median == near(0.3, 1e-12));
  CHECK(errors.worst == near(0.4, 1e-12));
  CHECK(errors.signed_median == near(0.2, 1e-12));
  const auto way = [](const char* workload, double measured, std::optional<double> ours) {
    PublicPrediction made;
    made.workload = workload;
    made.measured_s = measured;
    made.ours_s = ours;
    return made;
  };
  // Of a the second way is chosen, which takes 12 s where 10 would do; of b the fastest; c has one way that counts.
  CHECK(*choice_regret({way("a", 10, 9.0), way("a", 12, 8.0), way("b", 5, 5.0), way("b", 6, 7.0), way("c", 1, 1.0),
                        way("c", 2, {}), way("", 1, 1.0), way("", 2, 0.5)}) == near(0.1, 1e-12));
  CHECK_FALSE(choice_regret({way("c", 1, 1.0)}).has_value());
}

TEST_CASE("intervals are judged by what the other sets show, by hand") {
  // By the second set the first one has the centre 0.25 and no spread. By the first set the second one has 0.15 and
  // 0.05, with the ends at one standard deviation: sqrt(0.1^2 + 0.05^2) = 0.112, so up to 0.262.
  const std::vector<JudgedSet> sets{{{.1, 0}, {.2, 0}}, {{.25, .1}}};
  const std::vector<Unmodelled> by_others = unmodelled_by_others(sets);
  CHECK(by_others[0].centre == near(.25, 1e-12));
  CHECK(by_others[0].spread == 0);
  CHECK(by_others[1].centre == near(.15, 1e-12));
  CHECK(by_others[1].spread == near(.05, 1e-12));
  CHECK(by_others[1].low == near(-1, 1e-12));
  CHECK(by_others[1].high == near(1, 1e-12));
  CHECK(coverage(sets[0], by_others[0]) == 0);
  CHECK(coverage(sets[1], by_others[1]) == 1);
  CHECK(coverage({{.27, .1}}, by_others[1]) == 0);
  CHECK(coverage({}, by_others[1]) == 0);
  const TotalCoverage total = total_coverage(sets, by_others);
  CHECK(total.of_rows == near(1. / 3, 1e-12));
  CHECK(total.of_sets == near(.5, 1e-12));
  CHECK(unmodelled_by_all(sets).centre == near(.2, 1e-12));
}

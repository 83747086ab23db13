#include "models/workloads/fitted_text.hpp"

#include "sim/check.hpp"
#include "sim/fields.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace contend {
namespace {

template <std::size_t kSize>
void fill(std::array<double, kSize>& values, const std::vector<double>& numbers) {
  CONTEND_CHECK(numbers.size() <= kSize, "a table of a workload has a line with too many numbers");
  std::ranges::copy(numbers, values.begin());
}

constexpr std::pair<std::string_view, double FittedWorkload::*> kFigures[] = {
    {"fitted_days", &FittedWorkload::fitted_days},           {"jobs_per_day", &FittedWorkload::jobs_per_day},
    {"mean_gpu_seconds", &FittedWorkload::mean_gpu_seconds}, {"day_sigma", &FittedWorkload::day_sigma},
    {"spell_sigma", &FittedWorkload::spell_sigma},           {"spell_correlation", &FittedWorkload::spell_correlation},
    {"batch_gap_s", &FittedWorkload::batch_gap_s},           {"batch_width", &FittedWorkload::batch_width},
    {"user_exponent", &FittedWorkload::user_exponent},
};

void read_numbers(std::string_view word, const std::vector<double>& numbers, FittedWorkload& fit) {
  const auto integer = [&](std::size_t i) { return static_cast<std::int64_t>(numbers.at(i)); };
  const auto small = [&](std::size_t i) { return static_cast<int>(numbers.at(i)); };
  const auto figure = std::ranges::find(kFigures, word, [](const auto& each) { return each.first; });
  if (figure != std::end(kFigures)) {
    fit.*figure->second = numbers.at(0);
  } else if (word == "fitted_jobs") {
    fit.fitted_jobs = integer(0);
  } else if (word == "users") {
    fit.users = integer(0);
  } else if (word == "hours") {
    fill(fit.hours, numbers);
  } else if (word == "week") {
    fill(fit.week, numbers);
  } else if (word == "queueing") {
    fit.queueing = {numbers.at(0), numbers.at(1), numbers.at(2), numbers.at(3), numbers.at(4), numbers.at(5)};
  } else if (word == "class") {
    fit.classes.push_back({{}, numbers.at(0), numbers.at(1), integer(2), integer(3), {}, {}});
  } else if (word == "sizes") {
    for (std::size_t i = 0; i < numbers.size(); i += 2)
      fit.classes.back().sizes.push_back({small(i), numbers.at(i + 1)});
  } else if (word == "durations") {
    fill(fit.classes.back().durations, numbers);
  } else if (word == "outcomes") {
    fill(fit.classes.back().outcomes, numbers);
  } else {
    CONTEND_CHECK(word == "shape", "tables of workloads hold known words");
    fit.shapes.push_back({small(0), small(1), small(2), numbers.at(3)});
  }
}

}  // namespace

std::vector<FittedWorkload> read_fitted_workloads(std::string_view text) {
  std::vector<FittedWorkload> all;
  while (!text.empty()) {
    std::string_view line = take_field(text, '\n');
    if (line.empty() || line.front() == '#') continue;
    const std::string_view word = take_field(line, ' ');
    if (word == "workload") {
      all.emplace_back().name = line;
    } else if (word == "source") {
      all.back().source = line;
    } else if (word == "vc") {
      const std::string_view name = take_field(line, ' ');
      VcShare& vc = all.back().vcs.emplace_back();
      if (name != "-") vc.name = name;
      fill(vc.weights, numbers_in(line));
    } else {
      read_numbers(word, numbers_in(line), all.back());
    }
  }
  return all;
}

}  // namespace contend

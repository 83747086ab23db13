#include "traces/goodput_models.hpp"

#include "text/atomic_file.hpp"
#include "text/csv.hpp"
#include "text/csv_header.hpp"
#include "text/file_complaints.hpp"
#include "traces/jobs/row_report.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/core.h>

namespace contend {

namespace {

struct GoodputColumn {
  std::string_view name;
  bool required;
};
constexpr std::array kGoodputColumns = {GoodputColumn{"model", true},
                                        GoodputColumn{"alpha_c_s", true},
                                        GoodputColumn{"beta_c_s", true},
                                        GoodputColumn{"alpha_n_s", true},
                                        GoodputColumn{"beta_n_s", true},
                                        GoodputColumn{"alpha_r_s", true},
                                        GoodputColumn{"beta_r_s", true},
                                        GoodputColumn{"gamma", true},
                                        GoodputColumn{"batch", true},
                                        GoodputColumn{"min_local_batch", true},
                                        GoodputColumn{"max_local_batch", true},
                                        GoodputColumn{"type", false},
                                        GoodputColumn{"max_batch", false},
                                        GoodputColumn{"accumulates", false},
                                        GoodputColumn{"sqr", false},
                                        GoodputColumn{"var", false}};
constexpr double kLongestStep_s = 1e6, kLargestBatch = 1e9, kLargestNoise = 1e12, kSmallestNoise = 1e-12;

class GoodputReader {
 public:
  GoodputReader(const CsvTable& table, const std::string& file) : table_{table}, complaints_{file} {
    find();
    for (const CsvRow& row : table.rows) read(row);
    complaints_.throw_if_any();
  }
  [[nodiscard]] GoodputTable models() && { return std::move(models_); }

 private:
  void find() {
    std::vector<std::string> known, required;
    for (const GoodputColumn& column : kGoodputColumns) {
      known.emplace_back(column.name);
      if (column.required) required.emplace_back(column.name);
    }
    check_header(table_.header, known, required, [&](std::string reason, std::string hint) {
      complaints_.add({1, 0}, "", std::move(reason), std::move(hint));
    });
    for (std::size_t i = 0; i < table_.header.size(); ++i) columns_.emplace(table_.header[i], i);
    if (table_.rows.empty() && complaints_.empty()) complaints_.add({1, 0}, "", "the table has no rows");
    complaints_.throw_if_any();
  }

  void read(const CsvRow& row) {
    const auto seconds = [&](std::string_view name) { return number(row, name, 0, kLongestStep_s); };
    GoodputModel model;
    model.step = {seconds("alpha_c_s"), seconds("beta_c_s"), seconds("alpha_n_s"),       seconds("beta_n_s"),
                  seconds("alpha_r_s"), seconds("beta_r_s"), number(row, "gamma", 1, 10)};
    model.batch.initial = whole(row, "batch");
    model.batch.least_local = whole(row, "min_local_batch");
    model.batch.most_local = whole(row, "max_local_batch");
    if (model.step.alpha_c + model.step.beta_c <= 0) bad(row, "alpha_c_s", "a gradient takes no time at all");
    if (model.batch.most_local < model.batch.least_local)
      bad(row, "max_local_batch", "the largest batch of a GPU is smaller than the smallest");
    if (!text(row, "accumulates").empty()) model.batch.accumulates = number(row, "accumulates", 0, 1) > 0;
    if (!text(row, "max_batch").empty()) read_batches(row, model);
    for (const char* const name : {"sqr", "var"})
      if (text(row, "max_batch").empty() && !text(row, name).empty())
        bad(row, name, "noise of gradients counts only where the batch may grow; give max_batch, too");
    const std::string& name = text(row, "model");
    if (name.empty()) return bad(row, "model", "expected a name, got nothing");
    const auto [first, is_new] = line_of_.emplace(std::pair{name, text(row, "type")}, row.line);
    if (!is_new)
      return bad(row, "model",
                 fmt::format("{} has a row for this type on line {} already", quote_for_message(name), first->second));
    models_[first->first] = model;
  }

  void read_batches(const CsvRow& row, GoodputModel& model) {
    model.batch.largest = whole(row, "max_batch");
    if (*model.batch.largest < model.batch.initial)
      bad(row, "max_batch", fmt::format("expected at least the batch of {}", model.batch.initial));
    model.noise.sqr = number(row, "sqr", kSmallestNoise, kLargestNoise);
    model.noise.var = number(row, "var", 0, kLargestNoise);
  }

  [[nodiscard]] const std::string& text(const CsvRow& row, std::string_view name) const {
    static const std::string kNothing;
    const auto found = columns_.find(name);
    return found == columns_.end() ? kNothing : row.fields[found->second];
  }

  double number(const CsvRow& row, std::string_view name, double least, double most) {
    const std::string& field = text(row, name);
    double value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error == std::errc{} && end == field.data() + field.size() && value >= least && value <= most) return value;
    bad(row, name, fmt::format("expected a number from {:g} to {:g}, got {}", least, most, quote_for_message(field)));
    return least;
  }

  int whole(const CsvRow& row, std::string_view name) {
    const double value = number(row, name, 1, kLargestBatch);
    if (value == std::floor(value)) return static_cast<int>(value);
    bad(row, name, "expected a whole number of samples");
    return 1;
  }

  void bad(const CsvRow& row, std::string_view name, std::string reason) {
    complaints_.add({row.line, 0}, std::string{name}, std::move(reason));
  }

  const CsvTable& table_;
  FileComplaints complaints_;
  std::map<std::string, std::size_t, std::less<>> columns_;
  std::map<std::pair<std::string, std::string>, int> line_of_;
  GoodputTable models_;
};

}  // namespace

GoodputTable parse_goodput_models(std::string_view text, const std::string& name) {
  const CsvTable table = parse_csv(text, name);
  return GoodputReader{table, name}.models();
}

GoodputTable read_goodput_models(const std::string& path) {
  return parse_goodput_models(read_file(path), path);
}

}  // namespace contend

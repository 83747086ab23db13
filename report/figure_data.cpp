// Figures as JSON for the page and as CSV for people.

#include "report/figure.hpp"
#include "text/csv.hpp"

#include <cmath>

#include <fmt/format.h>

namespace contend {
void write_texts(JsonWriter& json, std::string_view name, const std::vector<std::string>& texts) {
  json.key(name).begin_array();
  for (const std::string& text : texts) json.value(text);
  json.end_array();
}

namespace {

constexpr std::string_view kMarks[] = {"line", "step", "dots", "bars"};

void write_axis(JsonWriter& json, std::string_view name, const FigureAxis& axis) {
  json.key(name).begin_object().member("title", axis.title).member("unit", axis.unit);
  if (!axis.shown_title.empty()) json.member("shown_title", axis.shown_title);
  if (!axis.shown_categories.empty()) write_texts(json, "shown_categories", axis.shown_categories);
  json.member("log", axis.logarithmic).member("from_zero", axis.from_zero);
  if (!axis.categories.empty()) write_texts(json, "categories", axis.categories);
  if (!axis.ticks.empty()) {
    json.key("ticks").numbers(axis.ticks);
    write_texts(json, "tick_names", axis.tick_names);
  }
  json.end_object();
}

struct PlotWriter {
  JsonWriter& json;

  void operator()(const XyPlot& plot) const {
    json.member("kind", "xy").member("base", plot.base).member("diagonal", plot.diagonal);
    write_axis(json, "x", plot.x);
    write_axis(json, "y", plot.y);
    json.key("series").begin_array();
    for (const FigureSeries& series : plot.series) {
      json.begin_object().member("name", series.name).member("mark", kMarks[static_cast<std::size_t>(series.mark)]);
      if (!series.shown_name.empty()) json.member("shown_name", series.shown_name);
      json.key("x").numbers(series.x);
      json.key("y").numbers(series.y);
      if (!series.low.empty()) json.key("low").numbers(series.low);
      if (!series.high.empty()) json.key("high").numbers(series.high);
      if (!series.labels.empty()) write_texts(json, "labels", series.labels);
      json.end_object();
    }
    json.end_array();
  }
  void operator()(const BoxPlot& plot) const {
    json.member("kind", "box").member("group_title", plot.group_title);
    write_axis(json, "y", plot.y);
    json.key("groups").begin_array();
    for (const BoxGroup& box : plot.groups) {
      json.begin_object().member("name", box.name).member("count", std::uint64_t{box.count}).member("low", box.low);
      json.member("q1", box.q1).member("median", box.median).member("q3", box.q3).member("high", box.high);
      json.member("mean", box.mean);
      json.key("outliers").numbers(box.outliers);
      json.end_object();
    }
    json.end_array();
  }
  void operator()(const HeatMap& plot) const {
    json.member("kind", "heat").member("value_title", plot.value_title).member("value_unit", plot.value_unit);
    write_axis(json, "x", plot.x);
    write_axis(json, "y", plot.y);
    json.member("x_from", plot.x_from).member("x_step", plot.x_step).member("columns", std::uint64_t{plot.columns});
    json.member("low", plot.low).member("high", plot.high);
    if (!std::isnan(plot.middle)) json.member("middle", plot.middle);
    json.member("log", plot.logarithmic);
    json.key("values").numbers(plot.values);
  }
};

/// `title_unit`, as columns of result files and stores are named: the title in lower case, the unit as it is.
std::string column_name(const std::string& title, const std::string& unit) {
  std::string name;
  const std::string text = title + (unit.empty() || unit == "share" ? "" : " " + unit);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool capital = c >= 'A' && c <= 'Z';
    if (letter || capital)
      name += static_cast<char>(capital && i < title.size() ? c - 'A' + 'a' : c);
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (name.ends_with('_')) name.pop_back();
  return name.empty() ? "value" : name;
}
std::string column_name(const FigureAxis& axis) {
  return column_name(axis.title, axis.categories.empty() ? axis.unit : "");
}

class Rows {
 public:
  void row(const std::vector<std::string>& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (i > 0) text += ',';
      append_csv_field(text, fields[i]);
    }
    text += '\n';
  }
  static std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }
  static std::string at(const FigureAxis& axis, double value) {
    return axis.categories.empty() ? number(value) : axis.categories[static_cast<std::size_t>(value)];
  }
  std::string text;
};

struct CsvWriter {
  std::string operator()(const XyPlot& plot) const {
    bool intervals = false, labels = false;
    for (const FigureSeries& series : plot.series) {
      intervals = intervals || !series.low.empty();
      labels = labels || !series.labels.empty();
    }
    Rows rows;
    std::vector<std::string> header{"series"};
    if (labels) header.emplace_back("label");
    header.push_back(column_name(plot.x));
    header.push_back(column_name(plot.y));
    if (intervals) header.insert(header.end(), {"low", "high"});
    rows.row(header);
    for (const FigureSeries& series : plot.series) {
      for (std::size_t i = 0; i < series.x.size(); ++i) {
        std::vector<std::string> fields{series.name};
        if (labels) fields.push_back(series.labels.empty() ? "" : series.labels[i]);
        fields.push_back(Rows::at(plot.x, series.x[i]));
        fields.push_back(Rows::at(plot.y, series.y[i]));
        if (intervals) {
          fields.push_back(series.low.empty() ? "" : Rows::number(series.low[i]));
          fields.push_back(series.high.empty() ? "" : Rows::number(series.high[i]));
        }
        rows.row(fields);
      }
    }
    return rows.text;
  }
  std::string operator()(const BoxPlot& plot) const {
    Rows rows;
    rows.row({column_name(plot.group_title, ""), "count", "mean", "whisker_low", "q1", "median", "q3", "whisker_high",
              "outliers"});
    for (const BoxGroup& box : plot.groups) {
      std::string outliers;
      for (const double value : box.outliers) outliers += (outliers.empty() ? "" : " ") + Rows::number(value);
      rows.row({box.name, fmt::format("{}", box.count), Rows::number(box.mean), Rows::number(box.low),
                Rows::number(box.q1), Rows::number(box.median), Rows::number(box.q3), Rows::number(box.high),
                outliers});
    }
    return rows.text;
  }
  std::string operator()(const HeatMap& plot) const {
    Rows rows;
    rows.row({column_name(plot.y), column_name(plot.x), column_name(plot.value_title, plot.value_unit)});
    for (std::size_t i = 0; i < plot.values.size(); ++i) {
      const auto column = static_cast<double>(i % plot.columns);
      const std::string x =
          plot.x.categories.empty() ? Rows::number(plot.x_from + column * plot.x_step) : Rows::at(plot.x, column);
      if (!std::isnan(plot.values[i])) rows.row({plot.y.categories[i / plot.columns], x, Rows::number(plot.values[i])});
    }
    return rows.text;
  }
};

}  // namespace

void write_figure_json(JsonWriter& json, const Figure& figure) {
  json.begin_object().member("id", figure.id).member("title", figure.title).member("caption", figure.caption);
  std::visit(PlotWriter{json}, figure.plot);
  json.end_object();
}

std::string figure_csv(const Figure& figure) {
  return std::visit(CsvWriter{}, figure.plot);
}

}  // namespace contend

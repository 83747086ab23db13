#include "cli/study_explain.hpp"

#include "cli/text_table.hpp"
#include "scenarios/study/study_assumptions.hpp"
#include "text/csv.hpp"

#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

std::string table_of(const StudyPhase& phase) {
  std::vector<std::string> titles{"message"};
  std::vector<StudyMessage> shown = phase.messages;
  shown.push_back(phase.total());
  std::vector<std::vector<std::string>> columns;
  for (const MessageColumn& column : message_columns()) {
    if (column.if_any && column.value(shown.back()) == 0) continue;
    titles.emplace_back(column.title);
    std::vector<double> values;
    for (const StudyMessage& each : shown) values.push_back(column.shown * column.value(each));
    if (column.name != "gradients") {
      columns.push_back(format_column(values));
      continue;
    }
    auto& cells = columns.emplace_back();
    for (const StudyMessage& each : shown) cells.push_back(fmt::format("{}", each.gradients));
  }
  Table table{titles};
  for (std::size_t i = 0; i < shown.size(); ++i) {
    std::vector<std::string> cells{shown[i].name};
    for (const auto& column : columns) cells.push_back(column[i]);
    table.add(std::move(cells));
  }
  return table.text();
}

std::string heading(const StudyMessages& job, const std::string& title, std::size_t phase) {
  if (job.phases.size() == 1) return title;
  return fmt::format("{}, phase {} ({:.4g} % of the iterations)", title, phase + 1, 100 * job.phases[phase].share);
}

}  // namespace

// Most messages are hidden, and the table of messages has what each of them costs.
std::string account_text(const StudyMessages& job) {
  double all = 0;
  std::vector<AccountRow> parts;
  for (const AccountRow& row : job.account) {
    all += row.seconds;
    const bool is_known = !parts.empty() && parts.back().part == row.part;
    if (!is_known) parts.push_back({row.part, {}, 0});
    parts.back().seconds += row.seconds;
  }
  constexpr double kMs = 1e3;
  std::vector<double> times;
  for (const AccountRow& part : parts) times.push_back(kMs * part.seconds);
  times.push_back(kMs * all);
  const std::vector<std::string> cells = format_column(times);
  Table table{{"of an iteration", "time [ms]", "share [%]", "most of it"}};
  table.align_left(3);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const AccountRow* most = nullptr;
    for (const AccountRow& row : job.account)
      if (row.part == parts[i].part && !row.what.empty() && (most == nullptr || row.seconds > most->seconds))
        most = &row;
    const std::string where = most == nullptr ? "" : fmt::format("{} ({:.3f} ms)", most->what, kMs * most->seconds);
    table.add({std::string{to_string(parts[i].part)}, cells[i],
               fmt::format("{:.1f}", kPercent * parts[i].seconds / all), where});
  }
  table.add({"all", cells.back(), "100.0", ""});
  return table.text();
}

std::string phases_text(const StudyMessages& job, const std::string& title) {
  std::string out;
  for (std::size_t i = 0; i < job.phases.size(); ++i) {
    out += fmt::format("{}{}: ", out.empty() ? "" : "\n", heading(job, title, i));
    if (job.phases[i].messages.empty())
      out += "nothing is sent\n";
    else
      out += fmt::format("messages in the order in which they become ready, {}\n{}",
                         job.measured ? "beside each other" : "each alone", table_of(job.phases[i]));
  }
  return out;
}

std::string assumptions_text(const ClusterSetup& cluster, const NetworkSetup& network, const IterationStudy& study,
                             const std::vector<TrainingEntry>& training) {
  Table table{{"cost", "as", "from"}};
  for (std::size_t column = 0; column < 3; ++column) table.align_left(column);
  for (const StudyAssumption& each : study_assumptions(cluster, network, study, training))
    table.add({each.what, each.value, each.source});
  return table.text();
}

std::string messages_text(std::span<const StudyMessages> jobs) {
  std::string out;
  for (const StudyMessages& job : jobs) {
    if (!job.account.empty())
      out += fmt::format("{}{}: for what the GPU of a worker spends an iteration\n{}", out.empty() ? "" : "\n", job.job,
                         account_text(job));
    if (!job.phases.empty()) out += fmt::format("{}{}", out.empty() ? "" : "\n", phases_text(job, job.job));
  }
  return out;
}

std::string messages_csv(std::span<const StudyMessages> jobs) {
  std::string out = "job_id,phase,share,message";
  for (const MessageColumn& column : message_columns()) out += fmt::format(",{}", column.name);
  out += '\n';
  for (const StudyMessages& job : jobs) {
    for (std::size_t i = 0; i < job.phases.size(); ++i) {
      for (const StudyMessage& message : job.phases[i].messages) {
        append_csv_field(out, job.job);
        out += fmt::format(",{},{:.12g},", i + 1, job.phases[i].share);
        append_csv_field(out, message.name);
        for (const MessageColumn& column : message_columns()) out += fmt::format(",{:.12g}", column.value(message));
        out += '\n';
      }
    }
  }
  return out;
}

void messages_json(JsonWriter& json, const StudyMessages& job) {
  const auto figures = [&](const StudyMessage& message) {
    for (const MessageColumn& column : message_columns()) json.member(column.name, column.value(message));
  };
  json.key("account").begin_array();
  for (const AccountRow& row : job.account) {
    json.begin_object().member("part", to_string(row.part)).member("what", row.what);
    json.member("time_s", row.seconds).end_object();
  }
  json.end_array();
  json.key("phases").begin_array();
  for (const StudyPhase& phase : job.phases) {
    json.begin_object().member("share", phase.share).key("messages").begin_array();
    for (const StudyMessage& message : phase.messages) {
      json.begin_object().member("name", message.name);
      figures(message);
      json.end_object();
    }
    json.end_array().key("total").begin_object();
    figures(phase.total());
    json.end_object().end_object();
  }
  json.end_array();
}

}  // namespace contend

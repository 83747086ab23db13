#include "scenarios/study/study_places.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// The scenario key that corresponds to an option of the readers of layer times.
std::string_view key_of_option(std::string_view option) {
  if (option == "batch") return "overlap.batch";
  if (option == "select") return "overlap.select";
  if (option == "sizes") return "overlap.model";
  return {};
}

}  // namespace

Complaint study_complaint(const IterationStudy& study, std::string_view key, std::string reason, std::string hint) {
  const auto given = std::ranges::find(study.places, key, &Complaint::key);
  Complaint complaint;
  if (given != study.places.end())
    complaint = *given;
  else if (!study.places.empty())
    complaint.file = study.places.front().file;
  complaint.key = key;
  complaint.reason = std::move(reason);
  complaint.hint = std::move(hint);
  return complaint;
}

std::vector<Complaint> placed(const IterationStudy& study, std::string_view key, std::vector<Complaint> complaints) {
  for (Complaint& each : complaints) {
    if (each.line > 0) continue;
    const bool of_layers = study.layers && each.file == *study.layers;
    if (!each.file.empty() && !of_layers) continue;
    std::string_view blamed = of_layers ? "overlap.layers" : key;
    std::string reason = each.file.empty() ? std::string{} : each.file + ": ";
    if (const std::string_view option = of_layers ? key_of_option(each.key) : std::string_view{}; !option.empty())
      blamed = option;
    else if (!each.key.empty())
      reason += each.key + ": ";
    each = study_complaint(study, blamed, reason + each.reason, each.hint);
  }
  return complaints;
}

std::string_view refusing_key(const IterationStudy& study) {
  const bool compresses = std::ranges::any_of(study.compression, [](const auto& each) { return each.name != "none"; });
  return compresses ? "overlap.compression" : "overlap.fusion";
}

}  // namespace contend

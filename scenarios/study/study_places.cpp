#include "scenarios/study/study_places.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// The member of an entry that corresponds to an option of the readers of layer times.
std::string_view member_of_option(std::string_view option) {
  if (option == "sizes") return "model";
  return option == "batch" || option == "select" ? option : std::string_view{};
}

}  // namespace

std::string entry_key(const IterationStudy& study, std::string_view member) {
  return fmt::format("training.{}.{}", study.entry.name, member);
}

Complaint study_complaint(const IterationStudy& study, std::string_view key, std::string reason, std::string hint) {
  auto given = std::ranges::find(study.places, key, &Complaint::key);
  if (given == study.places.end())
    given = std::ranges::find(study.places, key.substr(0, key.rfind('.')), &Complaint::key);
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
    const bool of_layers = study.entry.layers && each.file == *study.entry.layers;
    if (!each.file.empty() && !of_layers) continue;
    std::string blamed = of_layers ? entry_key(study, "layers") : std::string{key};
    std::string reason = each.file.empty() ? std::string{} : each.file + ": ";
    if (const std::string_view member = of_layers ? member_of_option(each.key) : std::string_view{}; !member.empty())
      blamed = entry_key(study, member);
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

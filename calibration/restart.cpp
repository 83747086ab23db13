#include "calibration/restart.hpp"

namespace contend {

std::vector<std::string> resumed_command(const std::vector<std::string>& words, std::uint64_t seconds) {
  std::vector<std::string> out;
  bool resumes = false, value_of_budget = false;
  for (const std::string& word : words) {
    if (value_of_budget || word.starts_with("--budget=")) {
      value_of_budget = false;
      continue;
    }
    value_of_budget = word == "--budget";
    if (value_of_budget) continue;
    resumes = resumes || word == "--resume";
    out.push_back(word);
  }
  if (!resumes) out.emplace_back("--resume");
  out.emplace_back("--budget");
  out.push_back(std::to_string(seconds));
  return out;
}

}  // namespace contend

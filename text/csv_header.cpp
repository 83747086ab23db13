#include "text/csv_header.hpp"

#include "text/words.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

namespace contend {

void check_header(const std::vector<std::string>& header, const std::vector<std::string>& known,
                  const std::vector<std::string>& required,
                  const std::function<void(std::string, std::string)>& complain) {
  const auto is_in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  std::set<std::string> meant;
  std::vector<std::string> hints;
  for (const std::string& name : header) {
    hints.push_back(is_in(known, name) ? std::string{} : did_you_mean(name, known));
    for (const std::string& each : required)
      if (hints.back().find('"' + each + '"') != std::string::npos) meant.insert(each);
  }
  const bool foreign = std::ranges::none_of(header, [&](const std::string& name) { return is_in(known, name); });
  if (foreign && meant.empty() && required.size() > 1)
    return complain(fmt::format("expected a table with the columns {}, got {}", join(required), join(header)), {});
  for (auto at = header.begin(); at != header.end(); ++at) {
    if (!is_in(known, *at))
      complain(fmt::format("unknown column \"{}\"", *at), hints[static_cast<std::size_t>(at - header.begin())]);
    else if (std::find(header.begin(), at, *at) != at)
      complain(fmt::format("column \"{}\" appears twice", *at), {});
  }
  for (const std::string& name : required)
    if (!is_in(header, name) && !meant.contains(name)) complain(fmt::format("no column \"{}\"", name), {});
}

}  // namespace contend

#include "traces/jobs/renamed_columns.hpp"

#include "sim/complaints.hpp"
#include "sim/error.hpp"
#include "text/words.hpp"
#include "traces/jobs/row_report.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

std::vector<std::string> names_of(std::string_view header) {
  std::vector<std::string> names;
  for (std::size_t start = 0; start <= header.size();) {
    const std::size_t end = std::min(header.find(',', start), header.size());
    std::string_view name = header.substr(start, end - start);
    if (name.size() > 1 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
    names.emplace_back(name);
    start = end + 1;
  }
  return names;
}

}  // namespace

std::string_view header_of(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  while (head.starts_with('#')) head.remove_prefix(std::min(head.find('\n'), head.size() - 1) + 1);
  return head.substr(0, head.find_first_of("\r\n"));
}

RenamedColumns::RenamedColumns(ByteSource& rest, const std::map<std::string, std::string>& names,
                               const std::string& file)
    : rest_{rest} {
  const std::string head{rest_.head()};
  const std::string_view header = header_of(head);
  const std::vector<std::string> before = names_of(header);
  std::vector<std::string> after = before;
  Complaints complaints;
  for (const auto& [name, own] : names) {
    const auto found = std::ranges::find(before, own);
    if (found == before.end()) {
      std::string hint = did_you_mean(own, before);
      if (hint.empty()) hint = fmt::format("it has {}", join(before));
      complaints.add({.file = file,
                      .reason = fmt::format("--column {}={}: there is no column {}", name, own, quote_for_message(own)),
                      .hint = std::move(hint)});
      continue;
    }
    after[static_cast<std::size_t>(found - before.begin())] = name;
  }
  for (const auto& [name, own] : names)
    if (std::ranges::count(after, name) > 1)
      complaints.add(
          {.file = file, .reason = fmt::format("--column {}={}: the file has a column \"{}\", too", name, own, name)});
  complaints.throw_if_any();
  begin_.resize(head.size());
  begin_.resize(rest_.read(begin_.data(), begin_.size()));
  begin_.replace(static_cast<std::size_t>(header.data() - head.data()), header.size(), join(after, ","));
}

std::size_t RenamedColumns::read(char* buffer, std::size_t size) {
  if (at_ == begin_.size()) return rest_.read(buffer, size);
  const std::size_t count = std::min(size, begin_.size() - at_);
  std::copy_n(begin_.data() + at_, count, buffer);
  at_ += count;
  return count;
}

}  // namespace contend

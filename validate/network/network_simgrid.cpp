#include "validate/network/network_simgrid.hpp"

#include "network/fluid.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string_view>

#include <fmt/core.h>
#include <unistd.h>

namespace contend {

namespace {

/// A temporary folder that is removed with its content.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "contend-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder " + name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::string operator/(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// The interpreter; empty if none has SimGrid.
std::string interpreter() {
  std::vector<std::string> candidates{"python3", "/usr/bin/python3"};
  if (const char* given = std::getenv("CONTEND_SIMGRID_PYTHON"); given != nullptr) candidates = {given};
  for (const std::string& each : candidates) {
    if (std::system(("'" + each + "' -c 'import simgrid' >/dev/null 2>&1").c_str()) == 0) return each;
  }
  return {};
}

void write_cases(std::span<const FlowCase> cases, const std::string& path) {
  std::ofstream file{path};
  file << fmt::format("{}\n", cases.size());
  for (const FlowCase& each : cases) {
    file << fmt::format("{} {}\n", each.capacities.size(), each.flows.size());
    for (const double capacity : each.capacities) file << fmt::format("{}\n", capacity);
    for (const FlowCase::Flow& flow : each.flows) {
      file << fmt::format("{} {}", flow.start.to_seconds(), flow.bytes);
      for (const std::uint32_t link : flow.links) file << fmt::format(" {}", link);
      file << '\n';
    }
  }
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

/// The numbers that a command prints, one a line.
std::vector<double> numbers_from(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start " + command);
  std::vector<double> numbers;
  std::array<char, 64> line{};
  while (std::fgets(line.data(), static_cast<int>(line.size()), pipe) != nullptr) {
    const std::string_view text{line.data()};
    double number = std::numeric_limits<double>::quiet_NaN();
    std::from_chars(text.data(), text.data() + text.size(), number);
    numbers.push_back(number);
  }
  if (pclose(pipe) != 0) throw std::runtime_error("SimGrid failed: " + command);
  return numbers;
}

}  // namespace

std::vector<double> completions(const FlowCase& flow_case) {
  FluidNetwork network{flow_case.capacities};
  std::vector<double> ends(flow_case.flows.size(), -1);
  std::vector<std::size_t> who;  // by id
  std::vector<FlowId> ended;
  std::vector<LinkShare> links;
  for (std::size_t next = 0; next < flow_case.flows.size() || network.active() > 0;) {
    const Time end = network.next_end();
    if (next < flow_case.flows.size() && flow_case.flows[next].start < end) {
      const FlowCase::Flow& flow = flow_case.flows[next];
      links.clear();
      for (const std::uint32_t link : flow.links) links.push_back({LinkId{link}, 1});
      const FlowId id = network.start({links, static_cast<double>(flow.bytes)}, flow.start);
      who.resize(std::max(who.size(), id.index() + 1));
      who[id.index()] = next++;
    } else {
      CONTEND_CHECK(end != Time::never(), "a flow of the case never ends");
      ended.clear();
      network.finish_due(end, ended);
      for (const FlowId id : ended) ends[who[id.index()]] = end.to_seconds();
    }
  }
  return ends;
}

std::string simgrid_missing() {
  return interpreter().empty() ? "no Python here has the module simgrid (Debian: apt-get install python3-simgrid)" : "";
}

std::vector<SimGridAnswer> ask_simgrid(std::span<const FlowCase> cases, Time until) {
  const TemporaryFolder folder;
  std::ofstream{folder / "oracle.py"} << simgrid_oracle();
  write_cases(cases, folder / "cases.txt");
  const std::vector<double> numbers =
      numbers_from(fmt::format("'{}' '{}' '{}' {} 2>'{}'", interpreter(), folder / "oracle.py", folder / "cases.txt",
                               until == Time::never() ? -1 : until.to_seconds(), folder / "log"));
  std::vector<SimGridAnswer> answers;
  auto next = numbers.begin();
  for (const FlowCase& each : cases) {
    const auto flows = static_cast<std::ptrdiff_t>(each.flows.size());
    if (numbers.end() - next < flows + 1) throw std::runtime_error("SimGrid has answered too little");
    answers.push_back({{next + 1, next + 1 + flows}, *next});
    next += flows + 1;
  }
  return answers;
}

double largest_deviation(const FlowCase& flow_case, std::span<const double> ours, std::span<const double> theirs) {
  double largest = 0;
  for (std::size_t f = 0; f < flow_case.flows.size(); ++f) {
    const double start = flow_case.flows[f].start.to_seconds();
    const double deviation = std::abs((ours[f] - start) / (theirs[f] - start) - 1);
    largest = std::isnan(deviation) ? deviation : std::max(largest, deviation);
    if (std::isnan(largest)) return largest;
  }
  return largest;
}

}  // namespace contend

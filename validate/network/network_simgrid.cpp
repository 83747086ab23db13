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

// Each case runs in a process of its own, because a process can't make a second engine. Hosts only name routes: every
// path has a pair of hosts, which the flows on it share.
constexpr std::string_view kScript = R"(
import os, sys, time
from simgrid import Actor, Comm, Engine, LinkInRoute, NetZone, this_actor

def simulate(capacities, flows):
    options = ["network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0", "network/weight-S:0",
               "network/bandwidth-factor:1.0", "network/latency-factor:1.0",
               "surf/precision:1e-12", "maxmin/precision:1e-9"]
    engine = Engine(["oracle", "--log=root.thresh:error"] + ["--cfg=" + option for option in options])
    zone = NetZone.create_full_zone("zone")
    paths = {}
    for start, size, path in flows:
        paths.setdefault(path, len(paths))
    side = 2
    while side * (side - 1) < len(paths):
        side += 1
    hosts = [zone.create_host("host%d" % i, 1e9).seal() for i in range(side)]
    links = [zone.create_link("link%d" % i, c).set_latency(0).seal() for i, c in enumerate(capacities)]
    ends = {}
    for path, number in paths.items():
        i, j = divmod(number, side - 1)
        a, b = hosts[i], hosts[j if j < i else j + 1]
        ends[path] = (a, b)
        zone.add_route(a.netpoint, b.netpoint, None, None, [LinkInRoute(links[l]) for l in path], False)
    zone.seal()
    comms = []
    def drive():
        for start, size, path in flows:
            if start > Engine.clock:
                this_actor.sleep_until(start)
            comms.append(Comm.sendto_async(*ends[path], size))
        for comm in comms:
            comm.wait()
    Actor.create("driver", hosts[0], drive)
    begin = time.process_time()
    engine.run_until(until)
    print("%.6f" % (time.process_time() - begin))
    for comm in comms:
        print("%.17g" % comm.finish_time)
    sys.stdout.flush()

until = float(sys.argv[2])
lines = iter(open(sys.argv[1]))
for _ in range(int(next(lines))):
    link_count, flow_count = map(int, next(lines).split())
    capacities = [float(next(lines)) for _ in range(link_count)]
    flows = []
    for _ in range(flow_count):
        start, size, *path = next(lines).split()
        flows.append((float(start), int(size), tuple(map(int, path))))
    child = os.fork()
    if child == 0:
        try:
            simulate(capacities, flows)
        except BaseException as error:
            print(error, file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        sys.exit(1)
)";

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
  std::ofstream{folder / "oracle.py"} << kScript;
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

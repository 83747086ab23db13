#include "results/chrome_trace.hpp"

#include "sim/graph_plan.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <zlib.h>

using namespace contend;
namespace fs = std::filesystem;

namespace {
struct Span {
  std::int64_t start = 0, end = 0;  // ns
};
using Row = std::pair<std::int64_t, std::int64_t>;  // pid, tid

std::int64_t number_after(const std::string& line, const std::string& key) {
  return std::stoll(line.substr(line.find(key) + key.size()));
}

/// `"ts":12.345` is 12345 ns.
std::int64_t ns_after(const std::string& line, const std::string& key) {
  const std::size_t at = line.find(key) + key.size(), point = line.find('.', at);
  return std::stoll(line.substr(at, point - at)) * 1000 + std::stoll(line.substr(point + 1, 3));
}

/// One event a line, as the writer has it.
std::map<Row, std::vector<Span>> spans_by_lane(const std::string& text) {
  std::map<Row, std::vector<Span>> lanes;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = text.substr(at, end - at);
    if (line.find("\"ph\":\"X\"") == std::string::npos) continue;
    const std::int64_t start = ns_after(line, "\"ts\":");
    lanes[{number_after(line, "\"pid\":"), number_after(line, "\"tid\":")}].push_back(
        {start, start + ns_after(line, "\"dur\":")});
  }
  return lanes;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++times;
  return times;
}

std::string temporary(const char* name) {
  static const TemporaryFolder folder;
  return folder.path(name);
}

Op named(const char* name) {
  Op op;
  op.name = name;
  return op;
}

TransferRequest all_reduce(std::uint32_t job, const std::vector<ServerId>& servers) {
  TransferRequest request;
  request.job = JobId{job};
  request.bytes = Bytes{100};
  request.ranks = 2;
  request.servers = servers;
  return request;
}
}  // namespace

TEST_CASE("a timeline names its lanes and keeps nanoseconds") {
  const std::string path = temporary("trace.json");
  ChromeTrace trace{path, {2, 2}};
  trace.compute(GpuId{3u}, JobId{5u}, named("for\"ward"), 7, Time::nanoseconds(1'234'567),
                Time::nanoseconds(2'000'001));
  const std::vector<ServerId> both{ServerId{0u}, ServerId{1u}};
  trace.transfer(all_reduce(5, both), named("gradients"), 7, Time{}, Time::microseconds(10));
  CHECK_FALSE(fs::exists(path));  // until it is whole
  trace.close();
  const std::string text = read_file(path);
  fs::remove(path);
  CHECK(text.find("{\"ph\":\"X\",\"pid\":2,\"tid\":1,\"ts\":1234.567,\"dur\":765.434,\"cat\":\"compute\","
                  "\"name\":\"job 5 for\\\"ward\",\"args\":{\"job\":5,\"iteration\":7}}") != std::string::npos);
  CHECK(count(text, "\"name\":\"job 5 gradients\"") == 2);  // once for each server
  for (const char* name : {"server0", "server1", "network", "GPU 0", "GPU 3", "server0/nic", "server1/nic"})
    CHECK_MESSAGE(count(text, "{\"name\":\"" + std::string{name} + "\"}") == 1, name);
}

TEST_CASE("a timeline has rows for the GPUs that servers have, and numbers GPUs by the largest server") {
  const std::string path = temporary("unequal.json");
  ChromeTrace trace{path, {1, 3}};
  trace.compute(GpuId{4u}, JobId{0u}, named("f"), 0, Time{}, Time::microseconds(1));
  trace.close();
  const std::string text = read_file(path);
  for (const char* name : {"GPU 0", "GPU 3", "GPU 4", "GPU 5"})
    CHECK_MESSAGE(count(text, "{\"name\":\"" + std::string{name} + "\"}") == 1, name);
  for (const char* name : {"GPU 1", "GPU 2"})
    CHECK_MESSAGE(count(text, "{\"name\":\"" + std::string{name} + "\"}") == 0, name);
  CHECK(count(text, "{\"ph\":\"X\",\"pid\":2,\"tid\":1,") == 1);
}

TEST_CASE("passes of a pipeline have a category, a colour, and a lane for each pipeline rank") {
  const std::string path = temporary("pipeline.json");
  ChromeTrace trace{path, {4}, [](const Op& op) {
                      return op.name == "F0" ? std::optional{DrawnPass{"forward", "blue"}} : std::nullopt;
                    }};
  const auto runs = [&](std::uint32_t gpu, std::uint32_t rank, const char* what) {
    Op op = named(what);
    op.role = RoleId{rank};
    trace.compute(GpuId{gpu}, JobId{2u}, op, 0, Time{}, Time::microseconds(3));
  };
  runs(0, 0, "F0");
  runs(1, 0, "F0");  // of the same rank, which GPU 0 stands for
  runs(2, 1, "F0");
  runs(3, 1, "update");
  trace.close();
  const std::string text = read_file(path);
  fs::remove(path);
  CHECK(count(text, "\"cat\":\"forward\",\"name\":\"job 2 F0\",\"cname\":\"blue\"") == 3 + 2);
  CHECK(count(text, "\"cat\":\"compute\"") == 1);
  CHECK(count(text, "{\"name\":\"job 2 pipeline\"}") == 1);
  for (const char* lane : {"pipeline rank 0", "pipeline rank 1"})
    CHECK(count(text, "{\"name\":\"" + std::string{lane} + "\"}") == 1);
  // A server, the network, and behind them the job: pid 2 + 1 + 2.
  CHECK(count(text, "\"ph\":\"X\",\"pid\":5,\"tid\":0,") == 1);
  CHECK(count(text, "\"ph\":\"X\",\"pid\":5,\"tid\":1,") == 1);
}

TEST_CASE("each lane of a job's rank has a row of its own, from which arrows lead to the released tasks") {
  const IterationGraph graph = graph_from_text(
      "role w 1 | task h w 5 host | task c w 5 copy-in | compute k w 5 | all-reduce g w 9 | h -> k | h -> g | k -> g");
  const Plan plan{graph};
  const std::string path = temporary("rows.json");
  ChromeTrace trace{path, {2, 2}};
  const auto at = [](std::int64_t us) { return Time::microseconds(us); };
  for (const std::uint32_t job : {4U, 6U}) {  // both have a rank on GPU 3
    trace.begins(JobId{job}, plan);
    trace.task(GpuId{3U}, JobId{job}, plan.ops[0].op, 0, at(0), at(5));
    trace.task(GpuId{3U}, JobId{job}, plan.ops[1].op, 0, at(1), at(6));
    trace.task(GpuId{3U}, JobId{job}, plan.ops[0].op, 1, at(5), at(10));
  }
  const std::vector<ServerId> servers{ServerId{1U}};
  const std::vector<GpuId> gpus{GpuId{3U}};
  TransferRequest request = all_reduce(4, servers);
  request.gpus = gpus;
  trace.transfer(request, plan.ops[3].op, 0, at(5), at(9));
  trace.close();
  const std::string text = read_file(path);
  fs::remove(path);
  // Rows of GPU 3, the second of server 1: 2 x 1024 + 1, and every second one after it.
  for (const char* name :
       {"GPU 3 host of job 4", "GPU 3 copy-in of job 4", "GPU 3 host of job 6", "GPU 3 copy-in of job 6"})
    CHECK_MESSAGE(count(text, "{\"name\":\"" + std::string{name} + "\"}") == 1, name);
  CHECK(count(text, "\"pid\":2,\"tid\":2049,\"ts\":0.000,\"dur\":5.000,\"cat\":\"host\",\"name\":\"job 4 h\"") == 1);
  CHECK(count(text, "\"pid\":2,\"tid\":2051,\"ts\":1.000,\"dur\":5.000,\"cat\":\"copy-in\",\"name\":\"job 4 c\"") == 1);
  CHECK(count(text, "\"tid\":2053,\"ts\":5.000") == 1);
  CHECK(count(text, "{\"ph\":\"s\",\"pid\":2,\"tid\":2049,") == 1);
}

TEST_CASE("overlapping transfers never share a lane, and there are no more lanes than transfers overlap") {
  std::mt19937 random{20261121};
  std::vector<Span> transfers;
  for (int i = 0; i < 500; ++i) {
    const auto start = static_cast<std::int64_t>(random() % 10'000);
    transfers.push_back({start, start + static_cast<std::int64_t>(random() % 200)});
  }
  std::sort(transfers.begin(), transfers.end(), [](Span a, Span b) { return a.end < b.end; });  // as a run reports them

  const std::string path = temporary("lanes.json");
  ChromeTrace trace{path, {1}};
  const std::vector<ServerId> server{ServerId{0u}};
  for (const Span& each : transfers)
    trace.transfer(all_reduce(1, server), named("m"), 0, Time::nanoseconds(each.start), Time::nanoseconds(each.end));
  trace.close();
  auto lanes = spans_by_lane(read_file(path));
  fs::remove(path);

  std::size_t drawn = 0;
  for (auto& [lane, spans] : lanes) {
    drawn += spans.size();
    std::sort(spans.begin(), spans.end(), [](Span a, Span b) {
      return std::pair{a.start, a.end} < std::pair{b.start, b.end};
    });
    for (std::size_t i = 1; i < spans.size(); ++i) CHECK(spans[i - 1].end <= spans[i].start);
  }
  CHECK(drawn == transfers.size());
  std::size_t most = 0;  // the largest overlap begins where some transfer starts
  for (const Span& at : transfers)
    most = std::max(most, static_cast<std::size_t>(std::count_if(transfers.begin(), transfers.end(), [&](Span s) {
                      return (s.start <= at.start && at.start < s.end) || (s.start == at.start && s.end == at.end);
                    })));
  CHECK(lanes.size() <= most);
}

TEST_CASE("a flow leads from the task that ended last on each server to the transfer that it releases") {
  IterationGraph graph;
  const RoleId worker = graph.add_role("worker", 4);
  const OpId backward = graph.add_compute("backward", worker, Time::nanoseconds(100));
  const OpId sum = graph.add_collective("sum", CollectiveKind::all_reduce, worker, Bytes{100});
  const OpId forward = graph.add_compute("forward", worker, Time::nanoseconds(50));
  graph.add_dependency(backward, sum);
  graph.add_dependency(sum, forward, 1);
  const Plan plan{graph};
  const auto op = [&](OpId id) -> const Op& { return plan.ops[id.index()].op; };

  const std::string path = temporary("flows.json");
  ChromeTrace trace{path, {2, 2}};
  trace.begins(JobId{5u}, plan);
  // GPU 1 of server 0 and GPU 2 of server 1 end last; a task of another iteration releases nothing here.
  const std::int64_t ends[] = {1000, 1200, 1900, 1100};
  for (std::uint32_t gpu = 0; gpu < 4; ++gpu)
    trace.compute(GpuId{gpu}, JobId{5u}, op(backward), 0, Time::nanoseconds(500), Time::nanoseconds(ends[gpu]));
  trace.compute(GpuId{0u}, JobId{5u}, op(backward), 1, Time::nanoseconds(2000), Time::nanoseconds(2500));
  const std::vector<ServerId> servers{ServerId{0u}, ServerId{1u}};
  const std::vector<GpuId> gpus{GpuId{0u}, GpuId{1u}, GpuId{2u}, GpuId{3u}};
  TransferRequest request = all_reduce(5, servers);
  request.gpus = gpus;
  trace.transfer(request, op(sum), 0, Time::nanoseconds(2100), Time::nanoseconds(3000));
  trace.transfer(request, op(sum), 7, Time::nanoseconds(4000), Time::nanoseconds(5000));  // nothing is known of it
  trace.compute(GpuId{0u}, JobId{5u}, op(forward), 1, Time::nanoseconds(3000), Time::nanoseconds(3050));
  trace.close();
  const std::string text = read_file(path);
  fs::remove(path);
  const std::string rest = ",\"cat\":\"release\",\"name\":\"releases\"}";
  CHECK(count(text, "{\"ph\":\"s\",\"pid\":1,\"tid\":1,\"ts\":1.199,\"id\":1" + rest) == 1);
  CHECK(count(text, "{\"ph\":\"f\",\"bp\":\"e\",\"pid\":3,\"tid\":0,\"ts\":2.100,\"id\":1" + rest) == 1);
  CHECK(count(text, "{\"ph\":\"s\",\"pid\":2,\"tid\":0,\"ts\":1.899,\"id\":2" + rest) == 1);
  CHECK(count(text, "{\"ph\":\"f\",\"bp\":\"e\",\"pid\":3,\"tid\":4096,\"ts\":2.100,\"id\":2" + rest) == 1);
  CHECK(count(text, rest) == 4);
}

TEST_CASE("a name in .gz is compressed, and an unfinished timeline leaves nothing") {
  const std::string path = temporary("trace.json.gz");
  { const ChromeTrace abandoned{path, {1}}; }
  CHECK_FALSE(fs::exists(path));
  ChromeTrace trace{path, {1}};
  for (int i = 0; i < 50'000; ++i)
    trace.compute(GpuId{0u}, JobId{0u}, named("f"), i, Time::seconds(i), Time::seconds(i + 1));
  trace.close();
  CHECK(read_file(path).starts_with("\x1f\x8b"));
  const gzFile file = ::gzopen(path.c_str(), "rb");
  std::string text;
  std::array<char, 1 << 16> buffer{};
  for (int n = 0; (n = ::gzread(file, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  ::gzclose(file);
  fs::remove(path);
  CHECK(count(text, "\"ph\":\"X\"") == 50'000);
  CHECK(text.ends_with("\n]}\n"));
}

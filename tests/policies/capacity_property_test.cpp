// What a job gets must not depend on GPUs that it can't have. Under every scheduling policy with every placement
// policy, jobs start and end at the same nanoseconds if the cluster gets spares that nothing needs, servers of another
// virtual cluster, with jobs of its own or without, or servers of a type on which no job may run, or none that is still
// there, or if its type gets a name, or rows change places or jobs their names, or all are four times as fast and long.

#include "models/sharing.hpp"
#include "sim/random_stream.hpp"
#include "sim/simulation.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/policies/placement_kit.hpp"
#include "tests/policies/policy_kit.hpp"
#include "tests/policies/scheduling_kit.hpp"
#include "tests/sim/fixed_network.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

enum class Change {
  spares,
  server_behind,
  server_in_front,
  foreign_jobs,
  named_type,
  idle_type,
  type_of_the_past,
  rows,
  names,
  faster
};

constexpr std::pair<Change, std::string_view> kChanges[] = {
    {Change::spares, "unused spares"},
    {Change::server_behind, "servers of another virtual cluster behind those of the jobs"},
    {Change::server_in_front, "servers of another virtual cluster in front of those of the jobs"},
    {Change::foreign_jobs, "another virtual cluster with jobs of its own"},
    {Change::named_type, "a name for the type of all servers"},
    {Change::idle_type, "servers of a type on which no job may run"},
    {Change::type_of_the_past, "servers of a type on which only a job may run that has ended before the others come"},
    {Change::rows, "another order of the rows"},
    {Change::names, "other names"},
    {Change::faster, "faster servers for as much more work"},
};

/// Policies of which a change may change something; `*`: all.
struct Exemption {
  std::string_view scheduling, placement;
  std::vector<Change> changes;
  std::string_view reason;
};

const std::vector<Exemption>& exemptions() {
  static const std::vector<Exemption> kExemptions = {
      {"*", "random", {Change::type_of_the_past}, "the job that has ended drew numbers of the stream"},
      {"gittins", "*", {Change::type_of_the_past}, "it learns from the jobs that have ended"},
  };
  return kExemptions;
}

bool is_exempt(std::string_view scheduling, std::string_view placement, Change change) {
  return std::ranges::any_of(exemptions(), [&](const Exemption& each) {
    return (each.scheduling == "*" || each.scheduling == scheduling) &&
           (each.placement == "*" || each.placement == placement) &&
           std::ranges::find(each.changes, change) != each.changes.end();
  });
}

/// Jobs on servers that a virtual cluster owns. Times are drawn to the nanosecond, so that no two jobs tie. Some jobs
/// are elastic.
struct CapacityCase {
  ClusterSpec cluster;
  std::vector<JobSpec> jobs;
  std::vector<std::vector<JobSize>> sizes{};
  int spares = 0;
  std::vector<Outage> outages{};
  std::vector<std::vector<JobPace>> paces{};
};

struct Ran {
  Time start, finish;
  int preemptions = 0;
  double rho = 0;
  bool operator==(const Ran& other) const {
    return start == other.start && finish == other.finish && preemptions == other.preemptions;
  }
};

std::vector<JobSpec> random_jobs_of(RandomStream& stream, int count, int gpus, double span_s) {
  std::vector<JobSpec> jobs;
  for (int j = 0; j < count; ++j) {
    JobSpec job;
    job.name = fmt::format("j{}", j);
    job.submit = Time::nanoseconds(static_cast<std::int64_t>(stream.uniform() * span_s * 1e9));
    job.gpus = static_cast<int>(std::min<std::int64_t>(gpus, std::int64_t{1} << stream.uniform_integer(0, 3)));
    job.duration = Time::nanoseconds(static_cast<std::int64_t>(60e9 * std::exp2(6 * stream.uniform())));
    if (stream.uniform() < 0.5) job.limit = *job.duration * 2;
    if (stream.uniform() < 0.3) job.deadline = job.submit + *job.duration * stream.uniform_integer(1, 8);
    job.priority = static_cast<std::int32_t>(stream.uniform_integer(0, 2));
    job.user = static_cast<std::int32_t>(stream.uniform_integer(0, 3));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

CapacityCase random_case(std::uint64_t seed) {
  RandomStream stream{seed, "capacity"};
  CapacityCase made;
  made.cluster.servers = static_cast<int>(stream.uniform_integer(1, 4));
  made.cluster.gpus_per_server = 1 << stream.uniform_integer(made.cluster.servers == 1 ? 1 : 0, 2);
  made.cluster.gpu_memory = Bytes{1};
  made.cluster.vcs = {{{0, static_cast<std::uint32_t>(made.cluster.servers)}}};
  const int gpus = made.cluster.servers * made.cluster.gpus_per_server;
  made.jobs = random_jobs_of(stream, 14, gpus, 14 * 1'500.0 / gpus);
  for (JobSpec& job : made.jobs) {
    job.vc = 0;
    if (stream.uniform() < 0.6) continue;
    job.sizes = static_cast<std::int32_t>(made.sizes.size());
    std::vector<JobSize>& own = made.sizes.emplace_back();
    for (int size = 1; size <= gpus; ++size) {
      if (size != job.gpus && (size & (size - 1)) != 0) continue;
      const double faster = std::pow(static_cast<double>(size) / job.gpus, 0.8);
      own.push_back({.gpus = size, .paces = {{.together = std::llround(static_cast<double>(kNominalPace) / faster)}}});
    }
  }
  return made;
}

/// Moves the servers of the jobs behind some of another virtual cluster, or puts these behind theirs.
void add_foreign_servers(CapacityCase& made, std::uint32_t servers, bool in_front) {
  const auto own = static_cast<std::uint32_t>(made.cluster.servers);
  made.cluster.servers += static_cast<int>(servers);
  if (in_front) {
    made.cluster.vcs = {{{0, servers}}, {{servers, servers + own}}};
    for (JobSpec& job : made.jobs) job.vc = 1;
  } else {
    made.cluster.vcs.push_back({{own, own + servers}});
  }
}

/// The job comes so much later.
void delay(JobSpec& job, Time by) {
  job.submit += by;
  if (job.deadline) *job.deadline += by;
}

constexpr Time kPast = Time::seconds(2000);

/// Gives the servers a type, and adds so many servers of another one, on which no job may run.
void name_types(CapacityCase& made, int others) {
  ServerType type{.name = "own",
                  .servers = made.cluster.servers,
                  .gpus_per_server = made.cluster.gpus_per_server,
                  .gpu_memory = made.cluster.gpu_memory};
  made.cluster.types = {type};
  made.paces = {{{.together = kNominalPace}}};
  for (JobSpec& job : made.jobs) job.pace = 0;
  if (others == 0) return;
  type.name = "other";
  type.servers = others;
  made.cluster.types.push_back(type);
  made.cluster.servers += others;
  made.cluster.vcs = {{{0, static_cast<std::uint32_t>(made.cluster.servers)}}};
  made.paces[0].push_back({.together = 0});
  for (std::vector<JobSize>& sizes : made.sizes)
    for (JobSize& size : sizes) size.paces.push_back({.together = 0});
}

bool is_of_types(Change change) {
  return change == Change::idle_type || change == Change::type_of_the_past;
}

void hasten(CapacityCase& made) {
  constexpr std::int64_t kFaster = 4;  // a power of two: paces are whole
  made.paces[0][0].together /= kFaster;
  for (std::vector<JobSize>& sizes : made.sizes)
    for (JobSize& size : sizes) size.paces[0].together /= kFaster;
  for (JobSpec& job : made.jobs) job.duration = *job.duration * kFaster;
}

/// What the case after a change is compared with.
CapacityCase before_change(CapacityCase made, Change change) {
  if (change == Change::spares) {  // spares belong to the servers that no virtual cluster owns
    made.cluster.vcs.clear();
    for (JobSpec& job : made.jobs) job.vc = -1;
  }
  if (change == Change::type_of_the_past)
    for (JobSpec& job : made.jobs) delay(job, kPast);
  if (is_of_types(change) || change == Change::faster) name_types(made, 0);
  for (const JobSpec& job : made.jobs) {  // no rounding: 1, 2, 4 ... times as fast
    if (change != Change::faster || job.sizes < 0) continue;
    for (JobSize& size : made.sizes[static_cast<std::size_t>(job.sizes)])
      size.paces[0].together = kNominalPace / std::max(1, size.gpus / job.gpus);
  }
  return made;
}

/// The case after the change. `where` gets the index of each of its jobs afterwards.
CapacityCase changed(const CapacityCase& original, Change change, std::uint64_t seed, std::vector<std::size_t>& where) {
  CapacityCase made = before_change(original, change);
  RandomStream stream{seed, "capacity.change"};
  where.resize(made.jobs.size());
  std::iota(where.begin(), where.end(), std::size_t{0});
  const auto servers = static_cast<std::uint32_t>(stream.uniform_integer(1, 3));
  switch (change) {
    case Change::spares:
      made.spares = static_cast<int>(servers);
      made.cluster.servers += made.spares;
      break;
    case Change::named_type:
      name_types(made, 0);
      break;
    case Change::idle_type:
      name_types(made, static_cast<int>(servers));
      break;
    case Change::type_of_the_past: {
      name_types(made, static_cast<int>(servers));
      made.paces.push_back({{.together = 0}, {.together = kNominalPace}});
      JobSpec past = timed_job(0, 1, 100);
      past.name = "past";
      past.vc = 0;
      past.pace = 1;
      made.jobs.push_back(std::move(past));
      break;
    }
    case Change::faster:
      hasten(made);
      break;
    case Change::server_behind:
    case Change::server_in_front:
      add_foreign_servers(made, servers, change == Change::server_in_front);
      break;
    case Change::foreign_jobs: {
      add_foreign_servers(made, servers, stream.uniform() < 0.5);
      const auto gpus = static_cast<int>(servers) * made.cluster.gpus_per_server;
      Time last;
      for (const JobSpec& job : made.jobs) last = std::max(last, job.submit);
      for (JobSpec& job : random_jobs_of(stream, 10, gpus, 2 * last.to_seconds())) {
        job.name = "foreign-" + job.name;
        job.vc = 1 - made.jobs.front().vc;
        made.jobs.push_back(std::move(job));
      }
      break;
    }
    case Change::rows: {
      stream.shuffle(std::span{where});
      std::vector<JobSpec> rows(made.jobs.size());
      for (std::size_t j = 0; j < rows.size(); ++j) rows[where[j]] = made.jobs[j];
      made.jobs = std::move(rows);
      break;
    }
    case Change::names: {
      std::vector<int> numbers(made.jobs.size());
      std::iota(numbers.begin(), numbers.end(), 0);
      stream.shuffle(std::span{numbers});
      for (std::size_t j = 0; j < numbers.size(); ++j) made.jobs[j].name = fmt::format("other-{}", numbers[j]);
      break;
    }
  }
  return made;
}

std::vector<Ran> run_case(const CapacityCase& made, const Choice& scheduling, const Choice& placement) {
  Workload workload;
  workload.jobs = made.jobs;
  for (std::size_t j = 0; j < workload.jobs.size(); ++j)
    if (workload.jobs[j].name.empty()) workload.jobs[j].name = fmt::format("j{}", j);
  workload.sizes = made.sizes;
  workload.paces = made.paces;
  SimulationOptions options;
  options.failures.spares = made.spares;
  options.failures.outages = made.outages;
  // Two jobs on a GPU take five quarters of their time.
  if (std::ranges::any_of(scheduling.parameters, [](const auto& each) { return each.first == "pack"; }))
    options.sharing = {constant_sharing(1.25, {}), 2, false};
  auto network = std::make_unique<FixedNetwork>(1, static_cast<std::size_t>(made.cluster.servers), made.jobs.size());
  PolicyContext context{1, {}, {}};
  context.vc_name = [own = made.jobs.front().vc](std::int32_t vc) { return vc == own ? "own" : "foreign"; };
  PolicySet policies{contend::test::scheduling(scheduling),
                     make_policy(placement_policies(), placement, context),
                     communication({"srsf", {}}, 1, 0),
                     scheduling.name,
                     placement.name,
                     "srsf"};
  Simulation simulation{made.cluster, std::move(workload), std::move(policies), std::move(network), std::move(options)};
  const RunResult result = simulation.run();
  std::vector<Ran> ran;
  for (const JobResult& job : result.jobs)
    ran.push_back({job.start, job.finish, static_cast<int>(job.preemptions), job.rho.value_or(0)});
  return ran;
}

/// The policies of the registry, with parameters that the jobs of a case reach, and with others where these are rules
/// of their own.
std::vector<Choice> scheduling_choices() {
  std::vector<Choice> all;
  for (const auto& row : scheduling_policies())
    if (!row.is_outside) all.push_back({std::string{row.name}, {}});
  for (const char* name : {"srtf", "srsf"}) {
    all.push_back({name, {{"rewalk", true}}});
    all.push_back({name, {{"preemptive", true}}});
    all.push_back({name, {{"rewalk", true}, {"migrate", true}}});
  }
  all.push_back({"las", {{"slice_s", 100.0}}});
  all.push_back({"las", {{"slice_s", 100.0}, {"migrate", true}}});
  all.push_back({"dlas", {{"limit_1_s", 100.0}, {"limit_2_s", 1000.0}, {"promote", 2.0}}});
  all.push_back({"dlas-gpu", {{"limit_1_s", 100.0}, {"limit_2_s", 1000.0}, {"migrate", true}}});
  all.push_back({"gittins", {{"quantum_s", 100.0}, {"warm_up", std::int64_t{3}}}});
  all.push_back({"fifo", {{"strict", false}}});
  all.push_back({"smallest-first", {{"preemptive", true}}});
  all.push_back({"max-min", {{"fill", true}, {"round_s", 60.0}}});
  for (const char* name : {"max-min", "max-min-water-filling", "min-makespan", "finish-time-fairness", "min-cost"})
    all.push_back({name, {{"pack", true}, {"round_s", 60.0}, {"reallocate_s", 60.0}}});
  all.push_back({"allox", {{"round_s", 120.0}}});
  all.push_back({"themis", {{"lease_s", 120.0}}});
  all.push_back({"conservative", {{"depth", std::int64_t{2}}, {"resolution_s", 60.0}, {"whole_servers", true}}});
  return all;
}

/// True for the policies whose walks stop running jobs (policies/scheduling/walk_policy.hpp).
bool stops_jobs(const Choice& scheduling) {
  constexpr std::string_view kNames[] = {"priority", "edf",  "las",  "dlas",          "dlas-gpu",
                                         "gittins",  "srtf", "srsf", "smallest-first"};
  return std::ranges::find(kNames, scheduling.name) != std::end(kNames);
}

bool knows_one_type(const Choice& scheduling) {
  const auto rows = scheduling_policies();
  const auto row = std::ranges::find(rows, scheduling.name, &PolicyRow<SchedulingPolicy>::name);
  return row->one_type;
}

/// The placement policies that need no fabric.
std::vector<Choice> placement_choices() {
  std::vector<Choice> all;
  for (const auto& row : placement_policies())
    if (!row.is_outside && row.name != "vclos") all.push_back({std::string{row.name}, {}});
  return all;
}

std::string first_difference(const std::vector<Ran>& before, const std::vector<Ran>& after,
                             const std::vector<std::size_t>& where, bool with_rho = false) {
  for (std::size_t j = 0; j < before.size(); ++j) {
    const Ran& then = after[where[j]];
    if (with_rho && std::abs(before[j].rho - then.rho) > 1e-12 * then.rho)
      return fmt::format("j{} has rho {}, and then {}", j, before[j].rho, then.rho);
    if (before[j] == then) continue;
    return fmt::format("j{} runs from {} to {} s with {} preemptions, and then from {} to {} s with {}", j,
                       before[j].start.to_seconds(), before[j].finish.to_seconds(), before[j].preemptions,
                       then.start.to_seconds(), then.finish.to_seconds(), then.preemptions);
  }
  return {};
}

}  // namespace

TEST_CASE("unused spares are no GPUs: jobs with less service preempt those with more") {
  // Two of three servers are spares, so that A and B compete for two GPUs. B comes when A has had 10 GPU seconds.
  CapacityCase made{cluster_of(3, 2), {timed_job(0, 2, 1000), timed_job(5, 2, 10)}, {}, 2};
  for (const Choice& each : std::vector<Choice>{{"las", {{"slice_s", 1.0}}},
                                                {"dlas", {{"limit_1_s", 4.0}, {"limit_2_s", 2000.0}}},
                                                {"dlas-gpu", {{"limit_1_s", 4.0}, {"limit_2_s", 4000.0}}},
                                                {"gittins", {{"quantum_s", 1.0}}}}) {
    INFO(each.name);
    const std::vector<Ran> ran = run_case(made, each, {"spread", {}});
    CHECK(ran[1].start == Time::seconds(5));
    CHECK(std::max(ran[0].finish, ran[1].finish) == Time::seconds(1010));  // no GPU is idle
  }
}

TEST_CASE("unused spares are no GPUs: they give nobody a larger share of the cluster") {
  // A and B share a GPU one after the other. A lives with two jobs, and would take 20 s on half a GPU. B lives with two
  // jobs and then with one, and would take 15 s on 1/1.5 of the GPU.
  const std::vector<JobSpec> jobs{timed_job(0, 1, 10), timed_job(0, 1, 10)};
  for (const int spares : {0, 1, 3}) {
    const CapacityCase made{cluster_of(1 + spares, 1), jobs, {}, spares};
    const std::vector<Ran> ran = run_case(made, {"fifo", {}}, {"first-fit", {}});
    CHECK(ran[0].rho == near(10.0 / 20));
    CHECK(ran[1].rho == near(20.0 / 15));
  }
}

TEST_CASE("unused spares are no GPUs: a job runs on the type of servers that has enough without them") {
  // X needs four GPUs and would be twice as fast on `fast`, which has two and two spare ones.
  CapacityCase made{cluster_of(4, 2), {timed_job(0, 4, 100)}, {}, 1};
  made.cluster.types = {{.name = "slow", .servers = 2, .gpus_per_server = 2, .gpu_memory = Bytes{1}},
                        {.name = "fast", .servers = 2, .gpus_per_server = 2, .gpu_memory = Bytes{1}}};
  made.paces = {{{.together = kNominalPace}, {.together = kNominalPace / 2}}};
  made.jobs[0].pace = 0;
  made.jobs[0].gpu_share = kWholeGpu;
  for (const char* name : {"allox", "max-min", "min-makespan", "finish-time-fairness", "hydra", "fifo"}) {
    INFO(name);
    const std::vector<Ran> ran = run_case(made, {name, {}}, {"spread", {}});
    CHECK(ran[0] == Ran{Time{}, Time::seconds(100), 0});
    CHECK(ran[0].rho == near(1));
  }
}

TEST_CASE("GPUs of a type on which no job may run are none that jobs may have") {
  // C, of a higher priority or with less service, needs half of the six GPUs. B stands behind A and gives way.
  CapacityCase made{cluster_of(5, 2), {timed_job(0, 3, 100), timed_job(1, 3, 100), timed_job(10, 3, 50)}, {}, 0};
  made.cluster.types = {{.name = "own", .servers = 3, .gpus_per_server = 2, .gpu_memory = Bytes{1}},
                        {.name = "other", .servers = 2, .gpus_per_server = 2, .gpu_memory = Bytes{1}}};
  made.paces = {{{.together = kNominalPace}, {.together = 0}}};
  for (JobSpec& job : made.jobs) {
    job.pace = 0;
    job.gpu_share = kWholeGpu;
  }
  made.jobs[2].priority = 1;
  const std::vector<Ran> ran = run_case(made, {"priority", {}}, {"spread", {}});
  CHECK(ran[0] == Ran{{}, Time::seconds(100), 0});
  CHECK(ran[1] == Ran{Time::seconds(1), Time::seconds(151), 1});
  CHECK(ran[2] == Ran{Time::seconds(10), Time::seconds(60), 0});
}

TEST_CASE("a job may have the GPUs of a job in front of it that stops, with types of servers and without") {
  // L has all four GPUs until H, which needs two, takes its place. Then S stands before T, and only S fits beside H.
  // Before H comes, S has no place. At 30 s H ends, and L takes the place of S.
  CapacityCase made{cluster_of(4, 1),
                    {timed_job(0, 4, 100), timed_job(1, 1, 50), timed_job(2, 2, 50), timed_job(10, 2, 20)}};
  made.jobs[0].priority = 1;
  made.jobs[3].priority = 2;
  made.cluster.vcs = {{{0, 4}}};
  for (JobSpec& job : made.jobs) job.vc = 0;
  for (const bool has_types : {false, true}) {
    if (has_types) name_types(made, 1);
    for (const std::string placement : {"worst-fit", "consolidated", "spread"}) {
      INFO(placement, std::string{has_types ? " with types" : ""});
      const std::vector<Ran> ran = run_case(made, {"priority", {}}, {placement, {}});
      CHECK(ran[0] == Ran{{}, Time::seconds(120), 1});
      CHECK(ran[1] == Ran{Time::seconds(10), Time::seconds(150), 1});
      CHECK(ran[2] == Ran{Time::seconds(120), Time::seconds(170), 0});
      CHECK(ran[3] == Ran{Time::seconds(10), Time::seconds(30), 0});
    }
  }
}

TEST_CASE("srtf and srsf with rewalk: on slow servers less of a job is done than the time that it has run, by hand") {
  // On two GPUs at half speed A has done 699.5 s at 1399 s, so that 800.5 s remain. B, with 110 s, takes its place for
  // 220 s, and A ends 1601 s after that.
  CapacityCase made{cluster_of(1, 2), {timed_job(0, 2, 1500), timed_job(1399, 2, 110)}};
  made.cluster.vcs = {{{0, 1}}};
  for (JobSpec& job : made.jobs) job.vc = 0;
  name_types(made, 0);
  made.paces[0][0].together *= 2;
  for (const char* name : {"srtf", "srsf"}) {
    for (const bool migrate : {false, true}) {
      const std::vector<Ran> ran = run_case(made, {name, {{"rewalk", true}, {"migrate", migrate}}}, {"first-fit", {}});
      CHECK(ran[0] == Ran{{}, Time::seconds(3220), 1});
      CHECK(ran[1] == Ran{Time::seconds(1399), Time::seconds(1619), 0});
    }
  }
}

TEST_CASE("gittins and shockwave count the time of jobs on fast servers, not their work") {
  const auto runs_alike = [](CapacityCase made, const Choice& scheduling) {
    made.cluster.vcs = {{{0, static_cast<std::uint32_t>(made.cluster.servers)}}};
    for (JobSpec& job : made.jobs) job.vc = 0;
    std::vector<std::size_t> where;
    const CapacityCase before = before_change(made, Change::faster), after = changed(made, Change::faster, 1, where);
    const Choice placement{"first-fit", {}};
    return first_difference(run_case(before, scheduling, placement), run_case(after, scheduling, placement), where);
  };
  CHECK(runs_alike({cluster_of(1, 4),
                    {timed_job(0, 3, 300), timed_job(0, 3, 1500), timed_job(0, 3, 300), timed_job(0, 4, 700),
                     timed_job(0, 2, 700)}},
                   {"gittins", {{"warm_up", std::int64_t{3}}}}) == "");
  CHECK(runs_alike({cluster_of(3, 2), {timed_job(0, 4, 700), timed_job(502, 1, 300), timed_job(623, 2, 300)}},
                   {"shockwave", {{"round_s", 60.0}}}) == "");
}

TEST_CASE("a server that is out of service has no GPUs: las knows that one job has to wait") {
  // The second of two servers fails from 10 to 500 s. At 20 s A has had 20 s, so that B takes its place.
  CapacityCase made{cluster_of(2, 1), {timed_job(0, 1, 100), timed_job(20, 1, 10)}, {}, 0};
  made.outages.push_back({Time::seconds(10), Time::seconds(500), 1, 2});
  const std::vector<Ran> ran = run_case(made, {"las", {{"slice_s", 5.0}}}, {"first-fit", {}});
  CHECK(ran[1] == Ran{Time::seconds(20), Time::seconds(30), 0});
  CHECK(ran[0] == Ran{{}, Time::seconds(110), 1});
}

TEST_CASE("a demotion counts though as many GPUs are free as the waiting job needs") {
  // worst-fit has A and B on a server each. X needs a whole one; it gets A's when A falls into the second queue.
  const CapacityCase made{cluster_of(2, 2), {timed_job(0, 1, 300), timed_job(50, 1, 300), timed_job(55, 2, 10)}, {}, 0};
  const std::vector<Ran> ran =
      run_case(made, {"dlas-gpu", {{"limit_1_s", 60.0}, {"limit_2_s", 2000.0}}}, {"worst-fit", {}});
  CHECK(ran[2] == Ran{Time::seconds(60), Time::seconds(70), 0});
}

TEST_CASE("policies that divide time divide the GPUs of their virtual cluster, and no more than its quota") {
  const Choice rounds[] = {{"max-min", {{"round_s", 60.0}, {"reallocate_s", 60.0}}},
                           {"finish-time-fairness", {{"round_s", 60.0}, {"reallocate_s", 60.0}}},
                           {"gandiva-fair", {{"round_s", 60.0}, {"reallocate_s", 60.0}}},
                           {"max-min-water-filling", {{"round_s", 60.0}, {"reallocate_s", 60.0}}},
                           {"min-makespan", {{"round_s", 60.0}, {"reallocate_s", 60.0}}},
                           {"shockwave", {{"round_s", 60.0}}},
                           {"gandiva", {{"slice_s", 60.0}}}};
  const auto case_of = [](int servers, std::vector<VirtualCluster> vcs) {
    CapacityCase made{
        cluster_of(servers, 2), {timed_job(0, 2, 600), timed_job(0, 2, 600), timed_job(0, 1, 600)}, {}, 0};
    made.cluster.vcs = std::move(vcs);
    for (JobSpec& job : made.jobs) job.vc = made.cluster.vcs.empty() ? -1 : 0;
    return made;
  };
  const Choice placement{"consolidated", {}};
  for (const Choice& each : rounds) {
    INFO(each.name);
    const std::vector<Ran> alone = run_case(case_of(1, {}), each, placement);
    CHECK(first_difference(alone, run_case(case_of(3, {{{0, 1}}, {{1, 3}}}), each, placement), {0, 1, 2}) == "");
    // Gandiva has jobs take turns where they are, and with a quota they are on three servers.
    const std::vector<Ran> within_quota = run_case(case_of(3, {{{}, 2}}), each, placement);
    if (each.name != "gandiva") {
      CHECK(first_difference(alone, within_quota, {0, 1, 2}) == "");
    } else {
      for (const Ran& ran : within_quota) CHECK(ran.start < Time::seconds(600));
    }
  }
  const std::vector<Ran> max_min = run_case(case_of(3, {{{}, 2}}), rounds[0], placement);
  CHECK(max_min[0].finish == Time::seconds(1740));
  CHECK(max_min[1].finish == Time::seconds(1800));
  CHECK(max_min[2].finish == Time::seconds(1200));
}

TEST_CASE("a server that comes back as another one fails is a change, though as many GPUs are in service") {
  // A has the first of three servers until 100 s. The third comes back at 50 s, as the second fails. From then on H,
  // which needs two, is to have the first and the third at 100 s, and C would be in its way.
  CapacityCase made{cluster_of(3, 1), {timed_job(0, 1, 100), timed_job(1, 2, 50), timed_job(60, 1, 200)}, {}, 0};
  made.outages = {{Time{}, Time::seconds(50), 2, 3}, {Time::seconds(50), Time::seconds(1000), 1, 2}};
  for (const char* name : {"easy", "conservative"}) {
    INFO(name);
    const std::vector<Ran> ran = run_case(made, {name, {}}, {"first-fit", {}});
    CHECK(ran[1] == Ran{Time::seconds(100), Time::seconds(150), 0});
    CHECK(ran[2] == Ran{Time::seconds(150), Time::seconds(350), 0});
  }
}

TEST_CASE("every scheduling and placement policy: GPUs that a job can't have, rows, names, speeds change nothing") {
  int waited = 0;
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{2}); ++seed) {
    const CapacityCase made = random_case(seed);
    for (std::size_t first = 0; const Choice& scheduling : scheduling_choices()) {
      for (std::size_t turn = first++; const Choice& placement : placement_choices()) {
        if (!is_played(turn++, 10)) continue;
        const std::vector<Ran> unchanged = run_case(made, scheduling, placement);
        for (std::size_t j = 0; j < unchanged.size(); ++j) waited += unchanged[j].start > made.jobs[j].submit ? 1 : 0;
        for (const auto& each : kChanges) {
          if (is_exempt(scheduling.name, placement.name, each.first)) continue;
          if (is_of_types(each.first) && knows_one_type(scheduling)) continue;
          const bool has_own = each.first == Change::spares || each.first == Change::faster || is_of_types(each.first);
          const std::vector<Ran> before =
              has_own ? run_case(before_change(made, each.first), scheduling, placement) : unchanged;
          std::vector<std::size_t> where;
          const CapacityCase other = changed(made, each.first, seed, where);
          INFO(scheduling.name, " with ", scheduling.parameters.size(), " parameters, ", placement.name, ", seed ",
               seed, ": ", each.second);
          // A job's fair share is one of the whole cluster, whoever owns it (sim/fairness.hpp).
          const bool with_rho = each.first != Change::server_behind && each.first != Change::server_in_front &&
                                each.first != Change::foreign_jobs;
          CHECK(first_difference(before, run_case(other, scheduling, placement), where, with_rho) == "");
        }
      }
    }
  }
  CHECK(waited > 1000);
}

TEST_CASE("policies whose walks stop jobs: a name for the type of servers, and another type, change nothing") {
  int preemptions = 0;
  for (std::uint64_t seed = 101; seed < 101 + effort(std::uint64_t{8}); ++seed) {
    const CapacityCase made = random_case(seed);
    for (const Choice& scheduling : scheduling_choices()) {
      if (!stops_jobs(scheduling)) continue;
      for (const Choice& placement : placement_choices()) {
        const std::vector<Ran> unnamed = run_case(made, scheduling, placement);
        for (const Ran& ran : unnamed) preemptions += ran.preemptions;
        for (const Change change : {Change::named_type, Change::idle_type}) {
          std::vector<std::size_t> where;
          const CapacityCase other = changed(made, change, seed, where);
          INFO(scheduling.name, " with ", scheduling.parameters.size(), " parameters, ", placement.name, ", seed ",
               seed, std::string{change == Change::idle_type ? ", with a further type" : ""});
          CHECK(first_difference(unnamed, run_case(other, scheduling, placement), where) == "");
        }
      }
    }
  }
  CHECK(preemptions > 1000);
}

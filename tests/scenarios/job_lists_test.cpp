#include "scenarios/run/job_lists.hpp"
#include "scenarios/run/batch.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "sim/error.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/scenarios/sweep_kit.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"
#include "text/sha256.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

constexpr const char* kHeader = "job_id,submit_s,gpus,iterations,model\n";

/// A text in memory with the text in it.
class OwnText final : public ByteSource {
 public:
  explicit OwnText(std::string text) : text_{std::move(text)}, source_{text_} {}
  std::size_t read(char* buffer, std::size_t size) override { return source_.read(buffer, size); }

 private:
  std::string text_;
  TextSource source_;
};

/// A file that is another one each time it is opened: with one job the first time, with two the second.
struct ChangingFile {
  std::atomic<int> opened{0};

  [[nodiscard]] static std::string content(int jobs) {
    std::string text = kHeader;
    for (int i = 0; i < jobs; ++i) text += fmt::format("job-{},{},2,10,resnet50\n", i, i);
    return text;
  }
  [[nodiscard]] JobLists::Open open() {
    return [this](const std::string&) { return std::make_unique<OwnText>(content(++opened)); };
  }
};

std::vector<std::string> digests(const std::vector<Replica>& replicas) {
  std::vector<std::string> all;
  for (const Replica& each : replicas)
    all.push_back(fmt::format("{} {} {:016x}", each.seed, each.result.jobs.size(), each.result.digest));
  return all;
}

}  // namespace

TEST_CASE("a job list is opened once for all replicas, scenarios and threads, and its hash is of what they ran") {
  const std::vector<Scenario> scenarios{parsed("workload: {jobs: list.csv}\nrepeat: 10\npolicies: {placement: random}"),
                                        parsed("workload: {jobs: list.csv}\nrepeat: 3\nseed: 7")};
  for (const unsigned threads : {1U, 4U}) {
    ChangingFile file;
    JobLists lists{file.open()};
    const auto results = run_batch(scenarios, {.threads = threads, .lists = &lists});
    CHECK(file.opened == 1);
    REQUIRE(results[0].size() == 10);
    REQUIRE(results[1].size() == 3);
    for (const auto& replicas : results)
      for (const Replica& each : replicas) CHECK(each.result.jobs.size() == 1);
    CHECK(lists.read("list.csv")->sha256 == sha256_hex(ChangingFile::content(1)));
    CHECK(file.opened == 1);
    CHECK(lists.read("other.csv")->jobs.size() == 2);  // the file does change
    CHECK(lists.read("other.csv")->sha256 == sha256_hex(ChangingFile::content(2)));
  }
}

TEST_CASE("a file that changes under way changes nothing, and its results equal the results of a run of its own") {
  const TemporaryFolder folder;
  const std::string path = folder.path("list.csv"), first = ChangingFile::content(4);
  write_file(path, first);
  Scenario scenario = parsed(fmt::format("workload: {{jobs: {}}}\nrepeat: 3", path));
  std::vector<std::string> alone;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    alone.push_back(fmt::format("{} 4 {:016x}", seed, run_scenario(scenario, seed).digest));
  JobLists lists;
  const std::string hash = lists.read(path)->sha256;
  write_file(path, ChangingFile::content(9));
  CHECK(digests(run_batch({&scenario, 1}, {.lists = &lists}).front()) == alone);
  CHECK(hash == sha256_hex(first));
  CHECK(run_scenario(scenario, 1).jobs.size() == 9);
}

TEST_CASE("the points of a sweep run the jobs that their hashes cover, even if the file changes") {
  const TemporaryFolder folder;
  const std::string path = folder.path("list.csv");
  write_file(path, ChangingFile::content(4));
  const std::string text =
      fmt::format("workload: {{jobs: {}}}\nsweep: {{grid: {{network.nic: [1Gbps, 10Gbps]}}}}\n", path);
  const SweepPlan plan = plan_of(text);
  const std::string hash = plan.points()[0].hash;
  write_file(path, ChangingFile::content(9));
  CHECK(plan.lists().read(path)->jobs.size() == 4);
  SweepStore store = run_into(folder.path("store"), plan, all_runs(plan));
  const std::vector<StoreRun> runs = store.runs();
  REQUIRE(runs.size() == 2);
  const auto finished = std::ranges::find(metrics(), "finished", &Metric::name) - metrics().begin();
  for (const StoreRun& run : runs) CHECK(run.metrics[static_cast<std::size_t>(finished)] == 4);
  CHECK(plan_of(text).points()[0].hash != hash);
}

TEST_CASE("the hash is of the file as it is, and a list that can't be read is tried again") {
  const TemporaryFolder folder;
  const std::string path = folder.path("list.csv");
  JobLists lists;
  CHECK_THROWS_AS(static_cast<void>(lists.read(path)), InputError);
  write_file(path, std::string{kHeader} + "a,0,1,0,resnet50\n");
  CHECK_THROWS_WITH_AS(static_cast<void>(lists.read(path)),
                       fmt::format("{}:2: iterations: expected a whole number >= 1, got 0", path).c_str(), InputError);
  const std::string text = "\r\n\n" + ChangingFile::content(2) + "\n";
  write_file(path, text);
  const auto list = lists.read(path);
  CHECK(list->sha256 == sha256_hex(text));
  CHECK(list->lines == std::vector<int>{4, 5});
}

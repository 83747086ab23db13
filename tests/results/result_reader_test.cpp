// Output folders read back, and what is wrong with those that can't be.
#include "results/result_reader.hpp"

#include "results/result_columns.hpp"
#include "results/result_writer.hpp"
#include "sim/error.hpp"
#include "tests/earlier_folder.hpp"
#include "tests/effort.hpp"
#include "tests/text_checks.hpp"
#include "text/atomic_file.hpp"

#include <cmath>
#include <filesystem>
#include <functional>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

using namespace contend;
namespace fs = std::filesystem;

namespace {

/// One job that ran, one that could not.
Replica two_jobs(std::uint64_t seed) {
  Replica replica;
  replica.seed = seed;
  JobResult done;
  done.name = "a, \"b\"";
  done.model = "lstm";
  done.state = JobState::finished;
  done.gpus = 2;
  done.iterations = 7;
  done.submit = Time::nanoseconds(1);
  done.start = Time::nanoseconds(1'000'000'001);
  done.finish = Time::nanoseconds(5'500'000'003);
  done.held = Time::nanoseconds(4'500'000'002);
  done.vc = "vision";
  done.user = "ann, \"b\"";
  done.outcome = JobOutcome::timeout;
  done.measured_wait = Time::nanoseconds(7);
  JobResult failed;
  failed.name = "big";
  failed.state = JobState::failed;
  failed.gpus = 64;
  failed.iterations = 3;
  replica.result.jobs = {done, failed};
  replica.result.digest = 0xABC;
  replica.summary = summarise(replica.result);
  return replica;
}

class ResultFolder {
 public:
  explicit ResultFolder(const std::vector<Replica>& replicas)
      : path_{(fs::temp_directory_path() / ("contend-read-" + std::to_string(::getpid()))).string()} {
    write_results(path_,
                  {.version = "1.2",
                   .git_hash = "beef",
                   .command_line = {},
                   .scenario_name = "two \"jobs\"",
                   .scenario_hash = "00",
                   .inputs = {{"jobs.csv", "ab"}},
                   .interrupted = false},
                  "schema_version: 1\n", replicas);
  }
  ~ResultFolder() { fs::remove_all(path_); }
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Replaces `from`, which must be there, in a file of a folder without digests.
  void change(const std::string& file, const std::string& from, const std::string& to) const {
    as_of_earlier_version(path_);
    std::string text = read_file(path_ + "/" + file);
    const std::size_t at = text.find(from);
    REQUIRE_MESSAGE(at != std::string::npos, text);
    write_file(path_ + "/" + file, text.replace(at, from.size(), to));
  }
  [[nodiscard]] std::string complaint() const {
    try {
      static_cast<void>(read_results(path_));
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("a folder says of its runs what they said themselves") {
  const std::vector<Replica> replicas{two_jobs(3), two_jobs(4)};
  const ResultFolder folder{replicas};
  const StoredResults read = read_results(folder.path());
  CHECK(read.name == "two \"jobs\"");
  CHECK(read.version == "1.2");
  CHECK(read.git_hash == "beef");
  CHECK(read.exit_state == "unfinished jobs");
  REQUIRE(read.inputs.size() == 1);
  CHECK(read.inputs[0].path == "jobs.csv");
  REQUIRE(read.replicas.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const StoredReplica &got = read.replicas[i], want = as_stored(replicas[i]);
    CHECK(got.seed == want.seed);
    CHECK(got.digest == "0000000000000abc");
    CHECK(got.digest == want.digest);
    REQUIRE(got.figures.size() == metrics().size());
    for (std::size_t m = 0; m < got.figures.size(); ++m)
      CHECK((got.figures[m] == want.figures[m] || (std::isnan(got.figures[m]) && std::isnan(want.figures[m]))));
    REQUIRE(got.jobs.size() == 2);
    for (std::size_t j = 0; j < 2; ++j) {
      const StoredJob &a = got.jobs[j], &b = want.jobs[j];
      CHECK(a.name == b.name);
      CHECK(a.held == b.held);
      CHECK(a.vc == b.vc);
      CHECK(a.user == b.user);
      CHECK(a.outcome == b.outcome);
      CHECK(a.measured_wait == b.measured_wait);
      CHECK(a.model == b.model);
      CHECK(a.state == b.state);
      CHECK(a.gpus == b.gpus);
      CHECK(a.iterations == b.iterations);
      CHECK(a.submit == b.submit);
      CHECK(a.start == b.start);
      CHECK(a.finish == b.finish);
    }
    CHECK(got.jobs[0].finish == Time::nanoseconds(5'500'000'003));
    CHECK_FALSE(got.jobs[1].start);
  }
}

TEST_CASE("a single replica needs no column of seeds; a figure that is not there is unknown") {
  const ResultFolder folder{{two_jobs(9)}};
  folder.change("summary.json", "\"makespan_s\"", "\"of_another_version\"");
  const StoredResults read = read_results(folder.path());
  REQUIRE(read.replicas.size() == 1);
  CHECK(read.replicas[0].jobs.size() == 2);
  const auto index = static_cast<std::size_t>(&metric("makespan_s") - metrics().data());
  CHECK(std::isnan(read.replicas[0].figures[index]));
}

TEST_CASE("names that a spreadsheet would run read back as they were") {
  Replica replica = two_jobs(9);
  replica.result.jobs[0].name = "=1+1";
  replica.result.jobs[1].name = "'-x";
  const ResultFolder folder{{replica}};
  CHECK(contains(read_file(folder.path() + "/jobs.csv"), "\n'=1+1,"));
  const StoredResults read = read_results(folder.path());
  CHECK(read.replicas[0].jobs[0].name == "=1+1");
  CHECK(read.replicas[0].jobs[1].name == "'-x");
}

TEST_CASE("what is wrong with a folder") {
  const std::vector<Replica> both{two_jobs(3), two_jobs(4)};
  const auto complaint = [&](const std::function<void(const ResultFolder&)>& spoil) {
    const ResultFolder folder{both};
    spoil(folder);
    return folder.complaint();
  };
  const auto change = [&](const char* file, const char* from, const char* to) {
    return complaint([&](const ResultFolder& folder) { folder.change(file, from, to); });
  };
  CHECK(complaint([](const ResultFolder&) {}) == "none");
  CHECK(contains(complaint([](const auto& folder) { fs::remove(folder.path() + "/manifest.json"); }),
                 "no manifest.json"));
  for (const char* file : {"/jobs.csv", "/summary.json"})
    CHECK(contains(complaint([&](const auto& folder) { fs::remove(folder.path() + file); }),
                   std::string{file} + ": this file of the results is missing; copy it back, or write the results "
                                       "again with `contend run -o`"));
  CHECK(contains(change("manifest.json", "\"contend\"", "\"other\""), "program: expected \"contend\""));
  CHECK(contains(change("manifest.json", "\"version\"", "\"vision\""), "version: missing"));
  CHECK(contains(change("manifest.json", "\"seed\": 3", "\"seed\": -3"), "seed: expected a whole number"));
  CHECK(contains(change("summary.json", "\"seed\": 3", "\"seed\": 5"), "expected 3 as in manifest.json"));
  CHECK(
      contains(change("summary.json", "\"avg_jct_s\": ", "\"avg_jct_s\": true, \"x\": "), "expected a number or null"));
  CHECK(contains(change("jobs.csv", "replica,", "seed,"), "no column \"replica\""));
  CHECK(contains(change("jobs.csv", "job_id", "id"), "jobs.csv:1: no column \"job_id\""));
  CHECK(contains(change("jobs.csv", "\n4,", "\n7,"),
                 "jobs.csv:4: replica: no replica of manifest.json has the seed \"7\""));
  CHECK(contains(change("jobs.csv", "big", "\"a, \"\"b\"\"\""), "jobs.csv:3: job_id: \"a, \"b\"\" appears twice"));
  CHECK(contains(change("jobs.csv", "finished", "ended"), "state: unknown state \"ended\""));
  CHECK(contains(change("jobs.csv", "failed", "finished"), "finished, but without start_s"));
  CHECK(contains(change("jobs.csv", "5.500000003", "soon"), "finish_s: expected seconds >= 0, got \"soon\""));
}

TEST_CASE("property: any changed byte of a folder is noticed, and so is a missing end") {
  const ResultFolder folder{{two_jobs(3), two_jobs(4)}};
  CHECK(read_results(folder.path()).has_digests);
  for (const char* name : {"manifest.json", "summary.json", "scenario.yaml", "jobs.csv"}) {
    CAPTURE(name);
    const std::string path = folder.path() + "/" + name, sound = read_file(path);
    const auto check = [&](const std::string& damaged) {
      write_file(path, damaged);
      CHECK(contains(folder.complaint(), path + ": was damaged or changed after its run"));
    };
    for (std::size_t byte = 0; byte < sound.size(); ++byte) {
      if (!is_played(byte, 5)) continue;
      std::string damaged = sound;
      damaged[byte] = static_cast<char>(static_cast<unsigned char>(damaged[byte]) ^ 1U << byte % 8);
      check(damaged);
    }
    check(sound.substr(0, sound.size() - 1));
    check(sound + "\n");
    write_file(path, "");  // an empty manifest is no JSON
    CHECK(folder.complaint() != "none");
    write_file(path, sound);
  }
  CHECK(folder.complaint() == "none");
  as_of_earlier_version(folder.path());
  CHECK_FALSE(read_results(folder.path()).has_digests);
}

TEST_CASE("all files that are damaged are named at once, and one of another run") {
  const ResultFolder folder{{two_jobs(3)}};
  for (const char* name : {"/jobs.csv", "/scenario.yaml", "/messages.csv"}) write_file(folder.path() + name, "x");
  const std::string complaint = folder.complaint();
  CHECK(contains(complaint,
                 "/jobs.csv: was damaged or changed after its run: the SHA-256 of its content is "
                 "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881, expected "));
  CHECK(contains(complaint, "/scenario.yaml: was damaged"));
  CHECK(contains(complaint, "/messages.csv: is of another run: manifest.json doesn't list this file; remove it"));
}

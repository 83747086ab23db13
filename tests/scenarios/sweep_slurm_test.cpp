#include "scenarios/sweep/slurm_array.hpp"
#include "scenarios/sweep/slurm_jobs.hpp"
#include "sim/error.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

SlurmSweep sweep_of(std::int64_t runs, std::int64_t shards) {
  SlurmSweep sweep;
  sweep.folder = "/work here/s";
  sweep.name = "my\n$(sweep)";
  sweep.runs = runs;
  sweep.shards = shards;
  sweep.output = "/out/it's.sqlite";
  sweep.program = "/bin/contend";
  sweep.work_folder = "/where/it/began";
  sweep.words = {"s.yaml", "--set", "a=1,2"};
  sweep.threads = 3;
  sweep.partition = "short";
  return sweep;
}

}  // namespace

TEST_CASE("ranges of shards, there and back") {
  CHECK(ranges_text({0, 1, 2, 3, 7, 9, 10}) == "0-3,7,9-10");
  CHECK(parse_ranges("0-3,7,9-10") == std::vector<std::int64_t>{0, 1, 2, 3, 7, 9, 10});
  CHECK(ranges_text({}).empty());
  for (const char* bad : {"x", "3-1", "1--2", "-1", "1,,2", "0-99999999999"})
    CHECK_THROWS_AS(static_cast<void>(parse_ranges(bad)), InputError);
}

TEST_CASE("every run belongs to one shard") {
  for (const std::int64_t shards : {1, 3, 7, 10}) {
    const SlurmSweep sweep = sweep_of(10, shards);
    std::int64_t runs = 0;
    for (std::int64_t i = 0; i < shards; ++i) runs += sweep.runs_of(i);
    CHECK(runs == 10);
  }
  CHECK(sweep_of(10, 3).runs_of(0) == 4);
  CHECK(sweep_of(10, 3).runs_of(2) == 3);
}

TEST_CASE("the queue as squeue prints it") {
  const auto states = parse_queue("12_0|RUNNING\n12_[2-3,5%4]|PENDING\n13|COMPLETED\n");
  CHECK(states.at({"12", 0}) == "RUNNING");
  CHECK(states.at({"12", 3}) == "PENDING");
  CHECK(states.at({"12", 5}) == "PENDING");
  CHECK(states.at({"13", -1}) == "COMPLETED");
  CHECK(states.size() == 5);
  CHECK(parse_queue("").empty());
  CHECK_THROWS_AS(static_cast<void>(parse_queue("slurm_load_jobs error")), InputError);
  CHECK(is_active("PENDING"));
  CHECK_FALSE(is_active("CANCELLED"));
  CHECK_FALSE(is_active(""));
}

TEST_CASE("scripts hold names and paths as single words") {
  const std::string shard = shard_script(sweep_of(10, 4));
  CHECK(shard.find("#SBATCH --job-name='contend-sweep-my---sweep-'\n") != std::string::npos);
  CHECK(shard.find("$(sweep)") == std::string::npos);
  CHECK(shard.find("'/bin/contend' sweep 's.yaml' '--set' 'a=1,2' --shard \"$shard/4\" -j 3") != std::string::npos);
  CHECK(shard.find("#SBATCH --partition='short'\n#SBATCH --cpus-per-task=3\n") != std::string::npos);
  CHECK(shard.find("--mem") == std::string::npos);
  CHECK(merge_script(sweep_of(10, 4)).find("output='/out/it'\\''s.sqlite'\n") != std::string::npos);
}

TEST_CASE("the notes of a folder, there and back") {
  const TemporaryFolder temporary;
  const std::string folder = temporary.path("sweep");
  std::filesystem::create_directories(folder);
  CHECK_THROWS_AS(static_cast<void>(read_plan(folder)), InputError);
  CHECK(read_submissions(folder).empty());
  write_file(folder + "/plan.csv", plan_csv(sweep_of(10, 4)));
  const SlurmSweep read = read_plan(folder);
  CHECK(read.name == "my\n$(sweep)");
  CHECK(read.runs == 10);
  CHECK(read.shards == 4);
  CHECK(read.output == "/out/it's.sqlite");
  CHECK(read.store(2) == folder + "/shards/shard-2.sqlite");
  write_file(folder + "/submissions.csv", submissions_csv({{"7", {0, 1, 2, 3}}, {"8", {}}}));
  const auto submissions = read_submissions(folder);
  REQUIRE(submissions.size() == 2);
  CHECK(submissions[0].shards.size() == 4);
  CHECK(submissions[1].shards.empty());
  write_file(folder + "/plan.csv", "name,runs\nx,3\n");
  CHECK_THROWS_AS(static_cast<void>(read_plan(folder)), InputError);
  write_file(folder + "/plan.csv", "name,shards,runs,output\nx,0,3,y\n");
  CHECK_THROWS_AS(static_cast<void>(read_plan(folder)), InputError);
}

TEST_CASE("what failed is submitted again alone, with a merge that waits for it and what still runs") {
  const TemporaryFolder temporary;
  SlurmSweep sweep = sweep_of(10, 4);
  sweep.folder = temporary.path("jobs");
  sweep.output = temporary.path("merged.sqlite");
  std::vector<std::string> commands;
  std::string queue;
  int job = 10;
  const SlurmCommand slurm = [&](const std::vector<std::string>& words) -> std::string {
    if (words.front() == "squeue") return queue;
    commands.push_back(fmt::format("{}", fmt::join(words, " ")));
    return words.front() == "sbatch" ? fmt::format("{};cluster\n", ++job) : "";
  };
  make_slurm_folder(sweep);
  CHECK_THROWS_AS(make_slurm_folder(sweep), InputError);
  const SlurmJobs jobs = submit_all(sweep, slurm);
  CHECK(jobs.array == "11");
  CHECK(jobs.merge == "12");
  CHECK(commands == std::vector<std::string>{
                        fmt::format("sbatch --parsable --array=0-3 {}/shard.sh", sweep.folder),
                        fmt::format("sbatch --parsable --dependency=afterok:11 --kill-on-invalid-dep=yes {}/merge.sh",
                                    sweep.folder)});
  commands.clear();

  queue = "11_0|RUNNING\n11_[1-2]|PENDING\n11_3|FAILED\n12|PENDING\n";
  const SlurmProgress seen = slurm_progress(sweep.folder, slurm);
  CHECK(seen.active_arrays == std::vector<std::string>{"11"});
  CHECK(seen.merge == "PENDING");
  CHECK(seen.shards[3].state == "FAILED");
  CHECK(seen.shards[3].runs == 2);
  CHECK_FALSE(seen.is_done());
  CHECK(submit_again(seen, slurm).shards == std::vector<std::int64_t>{3});
  REQUIRE(commands.size() == 3);
  CHECK(commands[0] == "scancel 12");
  CHECK(commands[1] == fmt::format("sbatch --parsable --array=3 {}/shard.sh", sweep.folder));
  CHECK(commands[2].find("--dependency=afterok:11:13 ") != std::string::npos);
  commands.clear();

  queue = "11_0|RUNNING\n11_1|COMPLETED\n13_3|PENDING\n14|PENDING\n";
  const SlurmJobs nothing = submit_again(slurm_progress(sweep.folder, slurm), slurm);
  CHECK(nothing.shards == std::vector<std::int64_t>{1, 2});  // their stores are empty and no task works on them
}

// Users who wait for their jobs: which job comes after which, and what is left of that in other lists.
#include "models/workloads/closed_loop.hpp"

#include "models/workloads/resampling.hpp"
#include "models/workloads/scaling.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace contend;

namespace {

JobRequest job_of(const std::string& user, const std::string& name, std::int64_t submit_s, std::int64_t duration_s) {
  JobRequest job;
  job.name = name;
  job.user = user;
  job.submit = Time::seconds(submit_s);
  job.duration = Time::seconds(duration_s);
  return job;
}

std::string order_of(const std::vector<JobRequest>& jobs) {
  std::string text;
  for (const JobRequest& job : jobs) {
    text += (text.empty() ? "" : " ") + job.name;
    for (const std::string& before : job.after)
      text += "<" + before + "+" + std::to_string(job.think.ns() / 1'000'000'000);
  }
  return text;
}

constexpr Time kLongest = Time::seconds(1200);

}  // namespace

TEST_CASE("a job comes after the last job of its user that had ended, if that was not long ago") {
  std::vector<JobRequest> jobs{job_of("ann", "a", 0, 100),   job_of("ann", "b", 10, 200),  // while a runs
                               job_of("ann", "c", 110, 10),                                // 10 s after a; b runs
                               job_of("bob", "d", 111, 10),                                // another user's first
                               job_of("ann", "e", 300, 10),                                // b ended at 210, c at 120
                               job_of("ann", "f", 1510, 10),                               // exactly 1200 s after e
                               job_of("ann", "g", 2721, 10),                               // 1201 s after f
                               job_of("", "h", 2731, 10),    job_of("", "i", 2741, 10),    // nobody knows whose
                               job_of("bob", "j", 121, 10)};                               // a list in no order
  CHECK(close_loop(jobs, kLongest) == 4);
  CHECK(order_of(jobs) == "a b c<a+10 d e<b+90 f<e+1200 g h i j<d+0");
}

TEST_CASE("a recorded end counts the wait and the attempts before; what comes after others already stays") {
  std::vector<JobRequest> jobs{job_of("ann", "a", 0, 100), job_of("ann", "b", 250, 10), job_of("ann", "c", 390, 10),
                               job_of("ann", "d", 420, 10)};
  jobs[0].measured_wait = Time::seconds(200);
  jobs[0].attempts = {Time::seconds(50), Time::seconds(30)};
  jobs[3].after = {"b"};
  jobs[3].think = Time::seconds(7);
  CHECK(close_loop(jobs, kLongest) == 2);  // a ends at 380, b at 260
  CHECK(order_of(jobs) == "a b c<a+10 d<b+7");
  jobs[3].after.clear();
  jobs[2].duration.reset();  // nobody knows when it ended
  jobs[2].after.clear();
  CHECK(close_loop(jobs, Time::seconds(60)) == 2);
  CHECK(order_of(jobs) == "a b c<a+10 d<a+40");
}

TEST_CASE("in a part of a list, or a resampled one, jobs come after those that are there") {
  std::vector<JobRequest> jobs{job_of("ann", "a", 0, 10), job_of("ann", "b", 15, 10), job_of("ann", "c", 100, 10),
                               job_of("ann", "d", 115, 10), job_of("ann", "e", 195, 5)};
  close_loop(jobs, kLongest);
  REQUIRE(order_of(jobs) == "a b<a+5 c<b+75 d<c+5 e<d+70");
  WorkloadScaling scaling;
  scaling.rate = 2;
  const ScaledList all = scale_list(jobs, scaling, {}, 8, 1);
  CHECK(order_of(all.jobs) == "a b<a+5 c<b+75 d<c+5 e<d+70");  // people think as long as before
  jobs[0].gpus = 4;
  scaling.largest = 2;
  const ScaledList small = scale_list(jobs, scaling, {}, 8, 1);
  CHECK(order_of(small.jobs) == "b c<b+75 d<c+5 e<d+70");
  CHECK(small.jobs[0].submit == Time::seconds(15));
  const ResampledList blocks = resample(jobs, {.block = Time::seconds(100), .replace = false}, 3);
  for (const JobRequest& job : blocks.jobs) {
    const std::string place = job.name.substr(1);
    if (job.name.front() == 'b') CHECK(job.after == std::vector<std::string>{"a" + place});
    if (job.name.front() == 'c') CHECK(job.after.empty());  // b is in another block
    if (job.name.front() == 'd') CHECK(job.after == std::vector<std::string>{"c" + place});
  }
}

TEST_CASE("what users have thought for is not lost where only some of the jobs before are absent") {
  std::vector<JobRequest> jobs{job_of("ann", "a", 0, 10), job_of("ann", "b", 15, 10)};
  jobs[1].after = {"z", "a"};
  jobs[1].think = Time::seconds(3);
  forget_absent(jobs);
  CHECK(order_of(jobs) == "a b<a+3");
  jobs[1].after = {"z"};
  forget_absent(jobs);
  CHECK(order_of(jobs) == "a b");
  CHECK(jobs[1].think == Time{});
}

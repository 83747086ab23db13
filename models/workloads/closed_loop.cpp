#include "models/workloads/closed_loop.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace contend {
namespace {

/// When a job ended on the real cluster.
Time recorded_end(const JobRequest& job) {
  return std::accumulate(job.attempts.begin(), job.attempts.end(),
                         job.submit + job.measured_wait.value_or(Time{}) + *job.duration);
}

/// What a user has submitted so far.
struct Submitted {
  using End = std::pair<Time, std::size_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> running;
  std::optional<End> ended;  ///< the last one that has ended

  void look_at(Time now) {
    for (; !running.empty() && running.top().first <= now; running.pop()) ended = running.top();
  }
};

}  // namespace

std::size_t close_loop(std::vector<JobRequest>& jobs, Time longest) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t j) { return jobs[j].submit; });
  std::unordered_map<std::string_view, Submitted> users;
  std::size_t following = 0;
  for (const std::size_t j : order) {
    JobRequest& job = jobs[j];
    if (job.user.empty()) continue;
    Submitted& user = users[job.user];
    user.look_at(job.submit);
    if (user.ended && job.submit - user.ended->first <= longest && job.after.empty()) {
      job.after = {jobs[user.ended->second].name};
      job.think = job.submit - user.ended->first;
    }
    if (!job.after.empty()) ++following;
    if (job.duration) user.running.emplace(recorded_end(job), j);
  }
  return following;
}

void forget_absent(std::vector<JobRequest>& jobs) {
  if (std::ranges::all_of(jobs, [](const JobRequest& job) { return job.after.empty(); })) return;
  std::unordered_set<std::string> names;
  for (const JobRequest& job : jobs) names.insert(job.name);
  for (JobRequest& job : jobs) {
    std::erase_if(job.after, [&](const std::string& name) { return !names.contains(name); });
    if (job.after.empty()) job.think = Time{};
  }
}

}  // namespace contend

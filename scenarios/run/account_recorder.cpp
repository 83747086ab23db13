#include "scenarios/run/account_recorder.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace contend {
namespace {

/// Iterations for which spans are kept: more than are in flight at once, so what began in an earlier one has ended.
constexpr std::int64_t kKept = kMostInFlight + 1;

}  // namespace

AccountRecorder::Start::Start(const Plan& followed, const KindOfTask& kind_of)
    : plan{followed}, ends(static_cast<std::size_t>(kKept)), account{kind_of} {
  for (std::size_t i = 0; i < plan.ops.size(); ++i) index.emplace(&followed.ops[i].op, i);
  for (std::size_t lag = 0; lag < 2; ++lag) {
    before[lag].resize(plan.ops.size());
    for (std::size_t i = 0; i < plan.ops.size(); ++i)
      for (const OpId after : plan.ops[i].successors[lag]) before[lag][after.index()].push_back(i);
  }
}

AccountRecorder::Ends& AccountRecorder::Start::ends_of(std::int64_t each) {
  Ends& found = ends[static_cast<std::size_t>(each % kKept)];
  if (found.iteration != each) {
    found.iteration = each;
    found.by_op.assign(before[0].size(), Time{});
  }
  return found;
}

void AccountRecorder::Start::ended(std::size_t op, std::int64_t each, Time end) {
  Time& latest = ends_of(each).by_op[op];
  latest = std::max(latest, end);
}

Time AccountRecorder::Start::ready(std::size_t op, std::int64_t each) {
  Time latest;
  for (std::size_t lag = 0; lag < 2; ++lag) {
    const std::int64_t of = each - static_cast<std::int64_t>(lag);
    if (of < 0 || (lag == 1 && ends[static_cast<std::size_t>(of % kKept)].iteration != of)) continue;
    for (const std::size_t i : before[lag][op]) {
      const Op& waited = plan.ops[i].op;
      if ((waited.kind == OpKind::timer || waited.counts()) && ends_of(of).by_op[i] == Time{}) {
        // A run shows neither timers nor counters; they begin when what they wait for has ended.
        const Time start = ready(i, of);
        if (start == Time{}) continue;
        account.under_way(OpId{i}, waited, start, start + waited.duration);
        ended(i, of, start + waited.duration);
      }
      latest = std::max(latest, ends_of(of).by_op[i]);
    }
  }
  return latest;
}

void AccountRecorder::begins(JobId job, const Plan& plan) {
  if (job != job_) return;
  starts_.push_back(std::make_unique<Start>(plan, kind_of_));
  starts_.back()->attempt = waits_.attempts().size() - 1;
}

void AccountRecorder::compute(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, Time start, Time end) {
  if (starts_.empty()) return;
  Start& now = *starts_.back();
  if (job != job_) {
    if (now.gpu == gpu && has_gpus()) now.account.other(start, end);
    return;
  }
  const std::size_t id = now.index.at(&op);
  const bool is_of_role = op.role == RoleId{0U};
  if (!now.gpu && is_of_role) {
    now.gpu = gpu;
    now.first = start;
    now.account.begin(start);
  }
  if (is_of_role && now.gpu != gpu) return;  // ranks of a role wait for themselves
  if (is_of_role) {
    if (iteration > now.iteration) {
      if (now.iteration >= 0) now.marks.emplace_back(iteration, now.last);
      now.iteration = iteration;
    }
    const Time ready = now.ready(id, iteration);
    now.account.task(now.plan.ops[id].op, ready > Time{} ? std::min(ready, start) : start, start, end);
    now.last = end;
    for (; !now.marks.empty() && now.marks.front().first + kKept <= iteration; now.marks.pop_front())
      now.account.settle(now.marks.front().second);
  }
  now.ended(id, iteration, end);
}

/// Before the first end of a compute operation says which GPU is followed, tasks of all GPUs of the first role count.
void AccountRecorder::task(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, Time start, Time end) {
  if (job != job_ || starts_.empty()) return;
  Start& now = *starts_.back();
  const std::size_t id = now.index.at(&op);
  if (op.role == RoleId{0U}) {
    if (now.gpu.value_or(gpu) != gpu) return;
    now.account.under_way(OpId{id}, now.plan.ops[id].op, start, end);
  }
  now.ended(id, iteration, end);
}

void AccountRecorder::transfer(const TransferRequest& request, const Op& op, std::int64_t iteration, Time start,
                               Time end) {
  if (request.job != job_) return;
  Start& now = *starts_.back();
  const std::size_t id = now.index.at(&op);
  static_cast<void>(now.ready(id, iteration));  // timers before it
  now.account.under_way(OpId{id}, now.plan.ops[id].op, start, end);
  now.ended(id, iteration, end);
  Transfers& all = transfers_[op.name];
  all.time += end - start;
  ++all.count;
}

std::vector<AccountRow> AccountRecorder::take(std::span<const JobAttempt> attempts, Time end, std::int64_t iterations) {
  std::vector<AccountRow> all;
  const auto add = [&all](const AccountRow& row) {
    const auto same = std::ranges::find_if(
        all, [&](const AccountRow& each) { return each.part == row.part && each.what == row.what; });
    if (same == all.end())
      all.push_back(row);
    else
      same->seconds += row.seconds;
  };
  Time outside;
  auto next = starts_.begin();
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const JobAttempt& attempt = attempts[i];
    const Time to = std::min(attempt.to, end);
    Time from = attempt.from;  // what lies before it is accounted for
    // It begins again in the same attempt where it has stood because of a failure that it goes on without, or of a step
    // against slowness.
    for (; next != starts_.end() && (*next)->attempt == i; ++next) {
      Start& start = **next;
      if (!start.gpu) continue;  // it was stopped before a task had ended
      const bool is_last = std::next(next) == starts_.end() || (*std::next(next))->attempt != i;
      const bool is_done = is_last && attempt.end == JobAttempt::End::ended;
      const Time until = is_done ? to : start.last;
      outside += start.first - from;
      start.account.settle(until);
      for (const AccountRow& row : start.account.rows(iterations)) add(row);
      from = until;
    }
    outside += to - from;
  }
  if (outside > Time{}) add({IterationPart::start, {}, outside.to_seconds() / static_cast<double>(iterations)});
  std::ranges::stable_sort(all, {}, &AccountRow::part);
  return all;
}

}  // namespace contend

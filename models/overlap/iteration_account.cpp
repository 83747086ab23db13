#include "models/overlap/iteration_account.hpp"

#include "sim/check.hpp"

#include <algorithm>

namespace contend {

bool IterationAccount::counts_before(const Pending& a, const Pending& b) {
  if (a.is_local != b.is_local) return b.is_local;
  return a.start != b.start ? a.start < b.start : a.id < b.id;
}

void IterationAccount::under_way(OpId id, const Op& op, Time start, Time end) {
  if (start < end) pending_.push_back({!op.is_traffic(), start, end, id, &op});
}

void IterationAccount::settle(Time to) {
  std::ranges::stable_sort(pending_, {}, &Pending::start);
  first_pending_ = first_other_ = 0;
  std::size_t done = 0;
  for (; done < tasks_.size() && tasks_[done].start < to; ++done) {
    const Task& task = tasks_[done];
    CONTEND_CHECK(task.start >= now_ && task.end <= to, "a GPU does one task after the other");
    wait(task.start, task.ready);
    const Time taken = task.end - task.start, planned = std::min(task.op->duration, taken);
    add(kind_of_(*task.op), OpId::none(), nullptr, planned);
    add(IterationPart::interference, OpId::none(), nullptr, taken - planned);
    now_ = task.end;
  }
  wait(to, Time::never());
  tasks_.erase(tasks_.begin(), tasks_.begin() + static_cast<std::ptrdiff_t>(done));
  std::erase_if(pending_, [&](const Pending& each) { return each.end <= to; });
  std::erase_if(others_, [&](const Interval& each) { return each.end <= to; });
}

std::vector<AccountRow> IterationAccount::rows(std::int64_t iterations) const {
  std::vector<AccountRow> all;
  for (const auto& [key, total] : totals_)
    all.push_back({key.first, total.what, total.time.to_seconds() / static_cast<double>(iterations)});
  return all;
}

void IterationAccount::add(IterationPart part, OpId id, const Op* op, Time time) {
  if (time <= Time{}) return;
  Total& total = totals_[{part, id}];
  if (op != nullptr && total.what.empty()) total.what = op->name;
  total.time += time;
}

/// The GPU does nothing of the job until `until`; its next task is ready from `ready` on.
void IterationAccount::wait(Time until, Time ready) {
  while (now_ < until) {
    Time next = until;
    const auto ends_at_most = [&](Time time) {
      if (time > now_) next = std::min(next, time);
    };
    ends_at_most(ready);
    while (first_other_ < others_.size() && others_[first_other_].end <= now_) ++first_other_;
    const bool is_taken = first_other_ < others_.size() && others_[first_other_].start <= now_;
    if (first_other_ < others_.size()) ends_at_most(is_taken ? others_[first_other_].end : others_[first_other_].start);
    while (first_pending_ < pending_.size() && pending_[first_pending_].end <= now_) ++first_pending_;
    const Pending* counts = nullptr;
    for (std::size_t i = first_pending_; i < pending_.size() && pending_[i].start < until; ++i) {
      const Pending& each = pending_[i];
      if (each.end <= now_) continue;
      if (each.start > now_) {
        ends_at_most(each.start);
        break;
      }
      if (counts == nullptr || counts_before(each, *counts)) counts = &each;
    }
    if (is_taken && (counts == nullptr || now_ >= ready)) {
      add(IterationPart::shared, OpId::none(), nullptr, next - now_);
    } else if (counts == nullptr) {
      add(IterationPart::other, OpId::none(), nullptr, next - now_);
    } else {
      ends_at_most(counts->end);
      if (counts->op->kind == OpKind::task && counts->op->lane == Lane::host)
        add(IterationPart::launch, OpId::none(), nullptr, next - now_);
      else
        add(counts->is_local ? IterationPart::timer : IterationPart::exposed, counts->id, counts->op, next - now_);
    }
    now_ = next;
  }
}

std::string_view to_string(IterationPart part) {
  switch (part) {
    case IterationPart::compute:
      return "computing";
    case IterationPart::input:
      return "input";
    case IterationPart::kernels:
      return "kernels of messages";
    case IterationPart::interference:
      return "interference";
    case IterationPart::exposed:
      return "exposed communication";
    case IterationPart::launch:
      return "waits for launches of the host";
    case IterationPart::timer:
      return "host and copies";
    case IterationPart::shared:
      return "waits for shared GPUs";
    case IterationPart::other:
      return "other waits";
    case IterationPart::start:
      return "starts and stops";
  }
  return "?";
}

std::vector<AccountRow> account_of(const IterationGraph& graph, std::span<const Span> spans, Time from, Time to,
                                   std::int64_t iterations, const KindOfTask& kind_of) {
  IterationAccount account{kind_of};
  account.begin(from);
  std::vector<Span> tasks;
  for (const Span& each : spans) {
    if (each.end <= from || each.start >= to || each.start == each.end) continue;
    const Op& op = graph.ops()[each.op.index()];
    if (op.kind != OpKind::compute)
      account.under_way(each.op, op, each.start, each.end);
    else if (op.role == RoleId{0U})
      tasks.push_back(each);
  }
  std::ranges::stable_sort(tasks, {}, &Span::start);
  for (const Span& each : tasks) account.task(graph.ops()[each.op.index()], each.start, each.start, each.end);
  account.settle(to);
  return account.rows(iterations);
}

}  // namespace contend

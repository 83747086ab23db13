#include "models/serving/replica.hpp"

#include "sim/random_stream.hpp"

#include <algorithm>
#include <utility>

namespace contend {

namespace {

constexpr Int128 kPicoseconds = 1000;  // of a nanosecond

Int128 whole_up(Int128 ps) {
  return ps >= 0 ? (ps + kPicoseconds - 1) / kPicoseconds : -(-ps / kPicoseconds);
}

}  // namespace

std::int64_t Speculation::accepts(RequestNumber request, std::uint32_t step) const {
  if (!accepted.empty()) return accepted[step % accepted.size()];
  // A draw depends on nothing but the request and the step, so that no rule of scheduling moves it.
  const auto words =
      philox4x32_10({request, step, 0, 0}, {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  const double u = (words[0] + 0.5) * 0x1p-32;
  std::int64_t count = 0;
  for (double tail = acceptance; count < drafts && u < tail; tail *= acceptance) ++count;
  return count;
}

ServingTotals& ServingTotals::operator+=(const ServingTotals& other) {
  steps += other.steps;
  computed += other.computed;
  given += other.given;
  recomputed += other.recomputed;
  evictions += other.evictions;
  ended += other.ended;
  most_blocks = std::max(most_blocks, other.most_blocks);
  busy_ns += other.busy_ns;
  drawn += other.drawn;
  batch_ns += other.batch_ns;
  cached_tokens += other.cached_tokens;
  gaps += other.gaps;
  return *this;
}

bool ServingReplica::queue(ServedSequence sequence, Time now) {
  // Behind others it waits as they do, and a leap has no room for them in any of its steps.
  const bool may_join = waiting_.empty() && running() < spec_->batch && work_tokens_ < spec_->tokens;
  sequence.queued = now;
  waiting_.push_back(sequence);
  if (steps_ <= 1 || !may_join) return false;
  cut(now);
  return true;
}

void ServingReplica::requeue_last() {
  const ServedSequence sequence = running_.back();
  running_.pop_back();
  take_back(sequence);
}

void ServingReplica::take_back(ServedSequence sequence) {
  free_ += sequence.blocks;
  totals_.recomputed += sequence.computed;
  sequence.blocks = sequence.computed = sequence.step = 0;
  waiting_.push_front(sequence);
}

bool ServingReplica::schedule_running(std::int64_t& budget) {
  for (ServedSequence& sequence : running_) sequence.step = 0;
  bool evicted = false;
  for (std::size_t i = 0; i < running_.size() && budget > 0; ++i) {
    ServedSequence& sequence = running_[i];
    const std::int64_t wanted = sequence.known() - sequence.computed + (sequence.decoding() ? speculation_->drafts : 0);
    const std::int64_t tokens = std::min(wanted, budget);
    const std::int64_t more = std::max<std::int64_t>(blocks_of(sequence.computed + tokens) - sequence.blocks, 0);
    while (more > free_ && i < running_.size()) {
      ++totals_.evictions;
      ++(*records_)[running_.back().request].evictions;
      requeue_last();
      evicted = true;
    }
    if (i == running_.size()) return true;  // it has evicted itself
    free_ -= more;
    sequence.blocks += more;
    sequence.step = tokens;
    budget -= tokens;
  }
  return evicted;
}

void ServingReplica::admit(std::int64_t& budget, Time now) {
  for (; !waiting_.empty(); waiting_.pop_front()) {
    ServedSequence& head = waiting_.front();
    if (running() >= spec_->batch || budget == 0) break;
    std::int64_t tokens = head.known() - head.computed;
    // What exceeds the budget of a whole step can only be a prompt with its answer so far, to be computed again.
    if (tokens > budget && !spec_->chunked && budget < spec_->tokens) break;
    tokens = std::min(tokens, budget);
    const std::int64_t blocks = blocks_of(head.computed + tokens);
    if (blocks > free_) {
      blocker_ = RequestWait::memory;
      return;
    }
    RequestResult& record = (*records_)[head.request];
    if (record.admitted == Time::never()) {
      record.admitted = now;
      if (head.queued <= last_begin_) record.waited_for = blocker_;
    }
    free_ -= blocks;
    budget -= tokens;
    head.blocks = blocks;
    head.step = tokens;
    running_.push_back(head);
  }
  blocker_ = running() >= spec_->batch          ? RequestWait::batch
             : budget == 0 || !waiting_.empty() ? RequestWait::tokens
                                                : RequestWait::none;
}

bool ServingReplica::begin(Time now) {
  while (!in_step() && outstanding() > 0) {
    std::int64_t budget = spec_->tokens;
    const bool evicted = schedule_running(budget);
    if (evicted) {
      blocker_ = RequestWait::memory;
    } else {
      admit(budget, now);
    }
    last_begin_ = now;
    if (budget < spec_->tokens) {
      start(now, evicted);
      return true;
    }
    if (!evicted) return false;
    // The only sequence has evicted itself, because sequences that are being sent hold blocks.
  }
  return false;
}

void ServingReplica::start(Time now, bool evicted) {
  StepWork work;
  bool has_prompts = false;
  bool equal = spec_->leaps && !prefill_ && speculation_->drafts == 0 && !evicted;
  std::int64_t least = INT64_MAX;
  for (const ServedSequence& sequence : running_) {
    equal = equal && sequence.step == 1 && sequence.decoding();
    if (sequence.step == 0) continue;
    const std::int64_t after = sequence.computed + sequence.step;
    work.tokens += sequence.step;
    work.cached += after;
    ++work.sequences;
    if (after >= sequence.known()) ++work.answers;
    if (!sequence.decoding()) {
      work.pairs += sequence.step * (sequence.computed + after + 1) / 2;
      has_prompts = true;
    }
    least = std::min(least, sequence.answer - sequence.given);
  }
  totals_.most_blocks = std::max(totals_.most_blocks, blocks_held());
  begin_ = now;
  if (now != last_end_) carry_ = 0;
  const StepLaw& law = law_of(has_prompts);
  first_ps_ = law.step(work);
  growth_ps_ = Int128{law.cache} * work.sequences;
  if (!spec_->clocks.empty()) {
    const ReplicaPower& power = spec_->clocks[clock_].power;
    power_ = has_prompts ? power.prompts : power.decoding(work.sequences);
  }
  work_tokens_ = work.tokens;
  work_cached_ = work.cached;
  work_sequences_ = work.sequences;
  steps_ = equal ? 1 + steps_with_blocks(least - 1) : 1;
  end_ = end_of(steps_);
}

const StepLaw& ServingReplica::law_of(bool has_prompts) const {
  if (spec_->clocks.empty()) return spec_->law;
  const StepClock& clock = spec_->clocks[clock_];
  return has_prompts ? clock.prompts : clock.decodes;
}

/// Sequence i needs a block when its cache passes spare[i] more tokens, and one for each block of tokens from there on.
std::int64_t ServingReplica::steps_with_blocks(std::int64_t most) {
  const std::int64_t block = spec_->block;
  if (free_ >= running() * (most / block + 1)) return most;
  spare_.clear();
  for (const ServedSequence& sequence : running_) spare_.push_back(sequence.blocks * block - sequence.computed - 1);
  const auto nth = spare_.begin() + free_ % running();
  std::nth_element(spare_.begin(), nth, spare_.end());
  return std::min(most, free_ / running() * block + *nth);
}

Int128 ServingReplica::picoseconds(std::int64_t steps) const {
  return carry_ + steps * first_ps_ + growth_ps_ * (Int128{steps} * (steps - 1) / 2);
}

Time ServingReplica::end_of(std::int64_t steps) const {
  const Int128 ns = whole_up(picoseconds(steps));
  if (ns > INT64_MAX) throw_time_overflow();
  return begin_ + Time::nanoseconds(static_cast<std::int64_t>(ns));
}

void ServingReplica::cut(Time now) {
  std::int64_t low = 1, high = steps_;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (end_of(middle) >= now) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (low == steps_ || steps_ == 0) return;
  steps_ = low;
  end_ = end_of(low);
}

void ServingReplica::end_steps() {
  const std::int64_t ns = (end_ - begin_).ns();
  totals_.steps += steps_;
  totals_.computed += steps_ * work_tokens_;
  totals_.cached_tokens += Int128{steps_} * work_cached_ + work_sequences_ * (Int128{steps_} * (steps_ - 1) / 2);
  totals_.busy_ns += ns;
  totals_.drawn += Int128{ns} * power_;
  totals_.batch_ns += Int128{ns} * running();
  last_begin_ = steps_ == 1 ? begin_ : end_of(steps_ - 1);
  last_end_ = end_;
  carry_ = picoseconds(steps_) - Int128{ns} * kPicoseconds;
}

/// The sequence has been through the step, or through all equal steps. Returns how many tokens it got.
std::int64_t ServingReplica::compute(ServedSequence& sequence) {
  std::int64_t given = 0;
  if (steps_ > 1) {
    given = steps_;
    sequence.computed += steps_;
    const std::int64_t blocks = blocks_of(sequence.computed);
    free_ -= blocks - sequence.blocks;
    sequence.blocks = blocks;
  } else if (sequence.decoding()) {
    given = 1;
    if (speculation_->drafts > 0) {
      const std::int64_t accepted = speculation_->accepts(sequence.request, sequence.decodes++);
      given = std::min({1 + accepted, sequence.step, sequence.answer - sequence.given});
    }
    sequence.computed += given;
  } else {
    sequence.computed += sequence.step;
    given = sequence.computed == sequence.known() ? 1 : 0;
  }
  sequence.given += given;
  totals_.given += given;
  return given;
}

void ServingReplica::finish(std::vector<ServedSequence>& gone) {
  const Time first_end = end_of(1);
  std::size_t kept = 0;
  std::int64_t freed = 0, waited_one_step = 0;
  end_steps();
  for (std::size_t i = 0; i < running_.size(); ++i) {
    ServedSequence& sequence = running_[i];
    const bool had_none = sequence.given == 0;
    if (sequence.step > 0 && compute(sequence) > 0) {
      if (had_none) {
        (*records_)[sequence.request].first = end_;
      } else if (sequence.token == begin_) {
        ++waited_one_step;
      } else {
        totals_.gaps.add(Int128{(first_end - sequence.token).ns()} * kPicoseconds, 1);
      }
      sequence.token = end_;
    }
    const bool ended = sequence.given == sequence.answer;
    if (ended) {
      (*records_)[sequence.request].end = end_;
      freed += sequence.blocks;
      ++totals_.ended;
    }
    if (ended || (prefill_ && sequence.given > 0 && sequence.computed + 1 == sequence.known())) {
      gone.push_back(sequence);
    } else {
      if (kept != i) running_[kept] = sequence;
      ++kept;
    }
  }
  totals_.gaps.add(first_ps_, waited_one_step);
  totals_.gaps.add_series(first_ps_ + growth_ps_, growth_ps_, steps_ - 1, work_sequences_);
  running_.resize(kept);
  totals_.most_blocks = std::max(totals_.most_blocks, blocks_held());
  free_ += freed;
  steps_ = 0;
  end_ = Time::never();
}

/// Ends the steps that have ended by `now`, and drops the one that has not.
void ServingReplica::drop_step(Time now) {
  std::int64_t done = 0;
  while (done < steps_ && end_of(done + 1) <= now) ++done;
  if (done < steps_) totals_.drawn += Int128{(now - (done > 0 ? end_of(done) : begin_)).ns()} * power_;
  if (done > 0) {
    steps_ = done;
    end_ = end_of(done);
    std::vector<ServedSequence> none;  // an answer ends with the last step of a leap only
    finish(none);
    std::int64_t held = blocks_held();
    if (last_end_ < now) {  // the step that is dropped has begun
      for (const ServedSequence& sequence : running_) held += blocks_of(sequence.computed + 1) - sequence.blocks;
    }
    totals_.most_blocks = std::max(totals_.most_blocks, held);
  }
  steps_ = 0;
  end_ = Time::never();
}

void ServingReplica::drop_caches(Time now) {
  if (in_step()) drop_step(now);
  for (ServedSequence& sequence : waiting_) {
    totals_.recomputed += sequence.computed;
    sequence.computed = 0;
  }
  while (!running_.empty()) requeue_last();
}

std::deque<ServedSequence> ServingReplica::give_up(Time now) {
  drop_caches(now);
  return std::exchange(waiting_, {});
}

}  // namespace contend

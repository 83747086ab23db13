#include "models/serving/power_row.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <utility>

namespace contend {
namespace {

constexpr double kMilliwattNanoseconds = 1e12;  // of a joule

}  // namespace

PowerRow::PowerRow(const PowerRowSpec& spec, Time begin) : spec_{spec}, last_reading_{begin}, last_change_{begin} {
  if (!(spec.budget_w > 0) || !(spec.base_w >= 0)) throw InputError("a row of racks needs a budget of power above 0");
  if (spec.period <= Time{}) throw InputError("the power of a row is read in periods above 0");
  if (spec.delay < Time{} || spec.brake_delay < Time{}) throw InputError("a cap acts in a negative time");
  if (!(spec.low > 0 && spec.low <= spec.high && spec.high <= 1 && spec.release >= 0 && spec.release < spec.low)) {
    throw InputError("the shares of the budget of a row don't rise from above 0 to 1");
  }
}

Time PowerRow::next() const {
  const Time reading = last_reading_ + spec_.period;
  return command_ ? std::min(reading, command_->acts) : reading;
}

void PowerRow::advance(Time now) {
  for (Time due = next(); due <= now; due = next()) {
    // The reading of an instant is of the time before it, so it comes first.
    if (due == last_reading_ + spec_.period) read(due);
    if (command_ && command_->acts <= due) {
      level_ = command_->level;
      last_change_ = due;
      command_.reset();
    }
  }
}

void PowerRow::read(Time now) {
  Int128 drawn = 0;
  for (Member& member : members_) {
    const Int128 until_now = member.drawn(now);
    drawn += until_now - std::exchange(member.seen, until_now);
  }
  const double seconds = spec_.period.to_seconds();
  const double joule = static_cast<double>(drawn) / kMilliwattNanoseconds + spec_.base_w * seconds;
  const double watts = joule / seconds;
  ++totals_.periods;
  totals_.joule += joule;
  totals_.peak_w = std::max(totals_.peak_w, watts);
  if (watts > spec_.budget_w) {
    ++totals_.over;
    totals_.over_joule += joule - spec_.budget_w * seconds;
  }
  const Time began = std::exchange(last_reading_, now);
  if (spec_.caps == RowCaps::polca && began >= last_change_) decide(watts / spec_.budget_w, now);
}

void PowerRow::decide(double share, Time now) {
  if (share > 1) {
    if (level_ != RowLevel::brake && (!command_ || command_->level != RowLevel::brake)) command(RowLevel::brake, now);
    return;
  }
  if (command_) return;
  RowLevel wanted = level_;
  if (share > spec_.high) wanted = std::max(level_, RowLevel::second);
  if (share > spec_.low) wanted = std::max(wanted, RowLevel::first);
  // One level at a time, so that the next reading shows what the release costs.
  constexpr std::array kBelow{RowLevel::free, RowLevel::free, RowLevel::first, RowLevel::second};
  const std::array limits{0.0, spec_.low, spec_.high, 1.0};
  const auto at = static_cast<std::size_t>(level_);
  if (wanted == level_ && level_ != RowLevel::free && share < limits[at] - spec_.release) wanted = kBelow[at];
  if (wanted != level_) command(wanted, now);
}

void PowerRow::command(RowLevel level, Time now) {
  if (level > level_) ++totals_.caps;
  if (level == RowLevel::brake) ++totals_.brakes;
  command_ = Command{level, now + (level == RowLevel::brake ? spec_.brake_delay : spec_.delay)};
}

}  // namespace contend

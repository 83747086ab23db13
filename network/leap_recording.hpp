#pragma once
// LeapRecording keeps what the flows of a job sent lately, so that a leap can add it to their histories, as often as it
// skips it.

#include "network/fluid.hpp"
#include "network/request_route.hpp"
#include "sim/ports.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace contend {

class LeapRecording {
 public:
  /// Records from now on.
  void begin() { runs_ = true; }
  [[nodiscard]] bool runs() const { return runs_; }
  /// The bytes that a flow of the step sent at a constant rate, so often.
  void add(RequestRoute::Step& step, Time from, Time to, double bytes, std::int64_t times = 1) {
    constexpr std::size_t kMostPieces = 1 << 14;
    if (pieces_.size() == kMostPieces) forget();
    pieces_.push_back({&step, from, to, bytes, times});
  }
  [[nodiscard]] std::int64_t pieces() const { return static_cast<std::int64_t>(pieces_.size()); }
  /// How often it has been cut because it became long.
  [[nodiscard]] std::uint64_t number() const { return number_; }

  /// The pieces from the number `then` to the number `now` are one period. Sends them `periods` times more, and forgets
  /// all, or records them as often if the leap is inside an iteration, which may recur as a whole. Negative `periods`
  /// take back so many of the last leap, its last ones. `interval` is the interval of samples, or 0.
  void leap(std::int64_t then, std::int64_t now, const LeapablePeriod& leapt, Time interval, FluidNetwork& fluid) {
    const auto [period, periods, is_inside] = leapt;
    std::int64_t first = 1, sign = 1;
    if (periods > 0) {
      leapt_.assign(pieces_.begin() + then, pieces_.begin() + now);
      periods_ = periods;
      if (is_inside) {
        repeat(period, interval);
      } else {
        pieces_.clear();
      }
    } else {
      first = periods_ + periods + 1;
      sign = -1;
      if (is_inside) forget();
    }
    for (const Piece& piece : leapt_) {
      fluid.carry(piece.step->flow.links, piece.bytes * static_cast<double>(piece.times * periods));
      if (interval == Time{}) piece.step->history.sent(piece.bytes, piece.times * periods);
    }
    if (interval == Time{}) return;
    for (std::int64_t p = first; p < first + periods * sign; ++p) {  // into samples one after the other
      for (const Piece& piece : leapt_)
        piece.step->history.sent(piece.from + period * p, piece.to + period * p,
                                 static_cast<double>(sign) * piece.bytes, interval);
    }
  }

 private:
  struct Piece {
    RequestRoute::Step* step = nullptr;
    Time from, to;
    double bytes = 0;
    std::int64_t times = 1;  // 1 where there are samples
  };

  void forget() {
    pieces_.clear();
    ++number_;
  }
  void repeat(Time period, Time interval) {
    if (interval == Time{}) {
      for (const Piece& piece : leapt_) add(*piece.step, piece.from, piece.to, piece.bytes, piece.times * periods_);
      return;
    }
    for (std::int64_t p = 1; p <= periods_; ++p)
      for (const Piece& piece : leapt_) add(*piece.step, piece.from + period * p, piece.to + period * p, piece.bytes);
  }

  bool runs_ = false;
  std::uint64_t number_ = 0;
  std::vector<Piece> pieces_;
  std::vector<Piece> leapt_;  // a period of the last leap
  std::int64_t periods_ = 0;  // of it
};

}  // namespace contend

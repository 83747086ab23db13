#pragma once
// A row of racks with a budget of power, and the caps of POLCA (Patel et al., "Towards Improved Power Management in
// Cloud GPUs", arXiv 2308.12908): above a share of the budget low-priority servers get a lower clock, above a larger
// share a lower one yet, and high-priority servers a slightly lower one; above the budget all brake. Commands act late.
// The row knows nothing of clusters; its members say what they have drawn, and ask for the clock that holds for them.
//
// The power of the row is read at the end of each period, as the mean over the period. While a command is on its way
// no other is given but the brake, and a period in which a command acted decides nothing.

#include "sim/units.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace contend {

enum class RowPriority : std::uint8_t { low, high };

/// What is done as the power rises.
enum class RowCaps : std::uint8_t {
  none,   ///< the row is only measured
  polca,  ///< the thresholds below
};

struct PowerRowSpec {
  double budget_w = 0;  ///< > 0
  double base_w = 0;    ///< that the row draws beside its members all the time
  Time period{};        ///< of readings, > 0
  RowCaps caps = RowCaps::polca;
  double low = 0.8, high = 0.89;  ///< shares of the budget above which the first and the second caps are commanded
  double release = 0.05;          ///< so far below a share its caps are released
  Time delay{}, brake_delay{};    ///< until a command acts, and until the brake does
};

/// What is in force in a row: no cap; the first caps, on low priority; the second ones, on both; the brake.
enum class RowLevel : std::uint8_t { free, first, second, brake };

/// What a row has done by its last reading.
struct PowerRowTotals {
  std::int64_t periods = 0;
  double joule = 0;         ///< over these periods
  double peak_w = 0;        ///< largest mean of a period
  std::int64_t over = 0;    ///< periods above the budget
  double over_joule = 0;    ///< beyond it in these periods
  std::int64_t caps = 0;    ///< commands for a higher level, with those for the brake
  std::int64_t brakes = 0;  ///< commands for the brake
};

class PowerRow {
 public:
  /// What a member has drawn until an instant that isn't before the one of the last call, in mW x ns.
  using Drawn = std::function<Int128(Time)>;

  /// Throws InputError if the specification makes no sense. Periods count from `begin`.
  PowerRow(const PowerRowSpec& spec, Time begin);

  /// Adds a member, which has drawn nothing yet. It is asked until the row goes.
  void join(Drawn drawn) { members_.push_back({std::move(drawn), 0}); }
  /// The next instant at which advance() is due.
  [[nodiscard]] Time next() const;
  /// Takes the row to `now`: readings and commands that are due by then, in the order of their instants. To be called
  /// at each next() at the latest by a member that draws power; the others may leave readings out, and the first that
  /// draws again makes up for them.
  void advance(Time now);
  [[nodiscard]] RowLevel level() const { return level_; }
  [[nodiscard]] const PowerRowTotals& totals() const { return totals_; }
  [[nodiscard]] const PowerRowSpec& spec() const { return spec_; }

 private:
  struct Member {
    Drawn drawn;
    Int128 seen;  // at the last reading
  };
  struct Command {
    RowLevel level;
    Time acts;
  };
  void read(Time now);
  void decide(double share, Time now);
  void command(RowLevel level, Time now);

  PowerRowSpec spec_;
  std::vector<Member> members_;
  Time last_reading_, last_change_;
  RowLevel level_ = RowLevel::free;
  std::optional<Command> command_;
  PowerRowTotals totals_;
};

}  // namespace contend

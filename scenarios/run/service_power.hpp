#pragma once
// The power of jobs that serve: what a cap does to the steps of replicas, and the rows of racks of a run.

#include "models/serving/power_row.hpp"
#include "models/serving/step_clock.hpp"
#include "scenarios/spec/training_system.hpp"
#include "sim/service.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Gives a replica its clocks: of the cap of the type on which it runs (cluster.types[].power), and of its row if it
/// has one. It stays as it is if neither says anything.
void give_clocks(const TrainingSystem& system, const ServingEntry& entry, std::string_view gpu_type,
                 ReplicaSpec& replica);

/// The row of an entry, and the clock (an index into ReplicaSpec::clocks) at each RowLevel.
struct RowPlace {
  std::string name;
  PowerRowSpec spec{};
  std::vector<std::size_t> clocks{};
};
/// none: the entry says nothing of its power. A RowPlace without a name: it says so, and has no row.
[[nodiscard]] std::optional<RowPlace> row_place(const TrainingSystem& system, const ServingEntry& entry);

/// The power of one service: the energy of its GPUs, and the clock that its row commands.
class ServiceMeter {
 public:
  /// `drawn`: by the GPUs in steps until an instant, in mW x ns; `stepped`: for how long replicas were in steps by
  /// then.
  ServiceMeter(const RowPlace& place, std::int64_t idle_mw, Time submitted, std::function<Int128(Time)> drawn,
               std::function<Time(Time)> stepped)
      : place_{place}, idle_mw_{idle_mw}, since_{submitted}, drawn_{std::move(drawn)}, stepped_{std::move(stepped)} {}

  /// Takes its row, which the first service of it makes.
  void share(ServiceShelf& shelf);
  /// The service holds the GPUs of so many replicas from now on; 0: it holds none.
  void hold(Time now, std::size_t replicas);
  /// Takes the row to `now`. Returns the clock from now on.
  std::size_t clock(Time now);
  /// When clock() is due.
  [[nodiscard]] Time next() const { return row_ ? row_->next() : Time::never(); }
  [[nodiscard]] PowerReport report(Time now) const;

 private:
  [[nodiscard]] Time held(Time now) const { return held_ + (now - since_) * static_cast<std::int64_t>(replicas_); }
  [[nodiscard]] Int128 all_drawn(Time now) const;

  const RowPlace& place_;
  std::int64_t idle_mw_;
  std::shared_ptr<PowerRow> row_;
  std::size_t replicas_ = 0, clock_ = 0;
  Time since_, held_, capped_;
  std::function<Int128(Time)> drawn_;
  std::function<Time(Time)> stepped_;
};

}  // namespace contend

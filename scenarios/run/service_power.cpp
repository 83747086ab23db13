#include "scenarios/run/service_power.hpp"

#include <algorithm>
#include <cmath>

namespace contend {
namespace {

constexpr double kMilliwatts = 1000, kMilliwattNanosecondsOfJoule = 1e12;

/// The cap of the type on which the job runs; an unchanged GPU without one.
CapPoint cap_of(const ClusterSetup& cluster, std::string_view gpu_type) {
  const auto& types = cluster.types;
  const auto type = types.size() == 1 ? types.begin() : std::ranges::find(types, gpu_type, &NamedServerType::name);
  const bool is_capped = type != types.end() && type->power && type->power->is_capped() && !type->power->curve.empty();
  if (!is_capped) return {};
  CapPoint cap = type->power->at_cap();
  cap.watts /= type->power->curve.back().watts;
  return cap;
}

const PowerRowEntry* row_entry(const TrainingSystem& system, const ServingEntry& entry) {
  if (!entry.power || !entry.power->row) return nullptr;
  const auto row = std::ranges::find(system.power_rows, *entry.power->row, &PowerRowEntry::name);
  return row == system.power_rows.end() ? nullptr : &*row;
}

std::int64_t milliwatts(double watts, int gpus) {
  return std::llround(watts * kMilliwatts * gpus);
}

/// The clock at which all GPUs of the replica have this cap, with `watts` as a share of the power without it.
StepClock clock_at(const ServingEntry& entry, const StepLaw& law, const CapPoint& cap) {
  StepClock clock{.prompts = at_pace(law, cap.pace), .decodes = at_pace(law, cap.decode_pace()), .power = {}};
  if (!entry.power) return clock;
  const ServicePower& power = *entry.power;
  const int gpus = entry.gpus();
  clock.power.idle = milliwatts(power.idle, gpus);
  const auto at_cap = [&](double watts) { return milliwatts(std::max(power.idle, watts * cap.watts), gpus); };
  clock.power.prompts = at_cap(power.prompts);
  for (const DecodeWatts& each : power.decodes) clock.power.decodes.emplace_back(each.sequences, at_cap(each.watts));
  return clock;
}

}  // namespace

void give_clocks(const TrainingSystem& system, const ServingEntry& entry, std::string_view gpu_type,
                 ReplicaSpec& replica) {
  CapPoint cap = cap_of(system.cluster, gpu_type);
  if (cap.watts == 0) cap.watts = 1;
  if (!entry.power && cap.pace == 1 && cap.decode_pace() == 1) return;
  replica.clocks.push_back(clock_at(entry, replica.law, cap));
  const PowerRowEntry* const row = row_entry(system, entry);
  if (row == nullptr) return;
  const bool is_low = entry.power->priority == RowPriority::low;
  const double full = entry.power->curve.empty() ? 0 : entry.power->curve.back().watts;
  // In the order of RowLevel, after the free one.
  for (const double mhz :
       {is_low ? row->low_clock : 0, is_low ? row->lower_clock : row->high_clock, row->brake_clock}) {
    CapPoint lower = cap;
    if (mhz > 0 && full > 0) {
      const CapPoint at = entry.power->at_clock(mhz);
      lower.watts *= at.watts / full;
      lower.decode = cap.decode_pace() * at.decode_pace();
      lower.pace *= at.pace;
    }
    replica.clocks.push_back(clock_at(entry, replica.law, lower));
  }
}

std::optional<RowPlace> row_place(const TrainingSystem& system, const ServingEntry& entry) {
  if (!entry.power) return std::nullopt;
  RowPlace place;
  const PowerRowEntry* const row = row_entry(system, entry);
  if (row == nullptr) return place;
  place.name = row->name;
  place.spec = row->row;
  const bool is_low = entry.power->priority == RowPriority::low;
  place.clocks = {0, is_low ? std::size_t{1} : std::size_t{0}, 2, 3};
  return place;
}

void ServiceMeter::share(ServiceShelf& shelf) {
  if (place_.name.empty()) return;
  row_ =
      shelf.get<PowerRow>("power_rows/" + place_.name, [&] { return std::make_shared<PowerRow>(place_.spec, since_); });
  row_->join([this](Time now) { return all_drawn(now); });
}

void ServiceMeter::hold(Time now, std::size_t replicas) {
  held_ = held(now);
  if (clock_ > 0 && replicas_ > 0) capped_ += now - since_;
  since_ = now;
  replicas_ = replicas;
}

std::size_t ServiceMeter::clock(Time now) {
  if (!row_) return 0;
  row_->advance(now);
  const std::size_t wanted = place_.clocks[static_cast<std::size_t>(row_->level())];
  if (wanted != clock_) {
    hold(now, replicas_);
    clock_ = wanted;
  }
  return wanted;
}

Int128 ServiceMeter::all_drawn(Time now) const {
  // A reading may be made up for later than the service gave its GPUs back.
  const Time idle = held(std::max(now, since_)) - stepped_(now);
  return drawn_(now) + Int128{idle.ns()} * idle_mw_;
}

PowerReport ServiceMeter::report(Time now) const {
  PowerReport report;
  report.energy_j = static_cast<double>(all_drawn(now)) / kMilliwattNanosecondsOfJoule;
  report.capped = clock_ > 0 && replicas_ > 0 ? capped_ + (now - since_) : capped_;
  if (!row_) return report;
  const PowerRowTotals& totals = row_->totals();
  const double budget = row_->spec().budget_w, period_s = row_->spec().period.to_seconds();
  report.row_peak = totals.peak_w / budget;
  if (totals.periods > 0) report.row_mean = totals.joule / (static_cast<double>(totals.periods) * period_s * budget);
  report.over = row_->spec().period * totals.over;
  report.over_j = totals.over_joule;
  report.caps = totals.caps;
  report.brakes = totals.brakes;
  return report;
}

}  // namespace contend

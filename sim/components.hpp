#pragma once
// Components fail and come back: components of the classes of FailureSpec, servers that may be lent, each of
// which is down while it is not lent, and the outages of the list. Components know how long each stays as it is, and
// the agenda when it turns.

#include "sim/agenda.hpp"
#include "sim/engine_state.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// GPUs first, ..., last - 1.
struct GpuRange {
  std::uint32_t first = 0, last = 0;
  [[nodiscard]] bool holds(GpuId gpu) const { return first <= gpu.value() && gpu.value() < last; }
};

struct Component {
  GpuRange gpus;
  const ComponentClass* of = nullptr;    ///< none of an outage of the list and of a server that may be lent
  const Outage* outage = nullptr;        ///< of the list
  OutReason reason = OutReason::failed;  ///< why its GPUs don't work while it is down
  const Slowdown* slows = nullptr;       ///< how it slows GPUs or servers while it is down; nullptr: it is an outage
  FoundBy found_by = FoundBy::delay;
  bool is_absent = false;  ///< its server has no GPU of these numbers: nothing happens to it
  bool is_down = false;
  bool is_isolated = false;  ///< it was slow, and is out of service until its repair

  /// True if it goes down by plan, which is no failure.
  [[nodiscard]] bool is_planned() const { return reason != OutReason::failed; }
  [[nodiscard]] bool is_slow() const { return is_down && slows != nullptr && !is_isolated; }
  [[nodiscard]] bool is_out() const { return is_down && !is_slow(); }
  /// Of computing or transfers, whatever is slower, in thousandths of their time. Of a component that slows.
  [[nodiscard]] std::int32_t slowest() const { return std::max(slows->compute, slows->network); }
};

class Components {
 public:
  Components(const EngineState& state, Agenda& agenda);

  /// Schedules the first failures, and outages of the list.
  void begin();
  [[nodiscard]] const Component& operator[](std::uint32_t component) const { return all_[component]; }
  /// The component of the first server that may be lent; the other such servers follow.
  [[nodiscard]] std::uint32_t first_lent() const { return first_lent_; }
  /// The GPUs that go out of service with the component.
  [[nodiscard]] GpuRange out_with(std::uint32_t component) const;
  /// The GPUs that go out of service if the component is slow and is isolated.
  [[nodiscard]] GpuRange isolated_with(std::uint32_t component) const;
  /// The servers that have GPUs in the range.
  [[nodiscard]] ServerRange servers_of(GpuRange gpus) const {
    return {gpus.first / per_server_, (gpus.last - 1) / per_server_ + 1};
  }
  /// The components that slow a job on these GPUs down.
  [[nodiscard]] std::vector<std::uint32_t> slow_under(std::span<const GpuId> gpus) const;
  /// No earlier than this a component of a class or of the list fails, comes back or is isolated that has a part on the
  /// server.
  [[nodiscard]] Time next_on(ServerId server) const;
  /// What has failed, in words.
  [[nodiscard]] std::string name_of_failure(std::uint32_t component) const;
  /// What slows which GPUs down.
  [[nodiscard]] SlowGpus slow_gpus(std::uint32_t component) const;

  void set_isolated(std::uint32_t component, bool is_isolated) { all_[component].is_isolated = is_isolated; }
  /// The component goes down or comes back. Draws how long it stays as it has become.
  void turn(std::uint32_t component);
  /// Stops the clocks of what belongs to this server alone and works, because the server becomes a cold spare.
  void suspend(std::uint32_t server);
  void resume(std::uint32_t server);

 private:
  struct Life {
    RandomStream stream;
    Time left{};  // that it works from now on, while it belongs to a cold spare
  };

  [[nodiscard]] GpuRange whole_servers(GpuRange gpus) const;
  [[nodiscard]] std::vector<std::uint32_t> only_on(std::uint32_t server) const;
  [[nodiscard]] bool is_suspended(std::uint32_t component) const;
  void add(Component component);
  void add_class(const ComponentClass& of);

  const EngineState& state_;
  const FailureSpec& spec_;
  Agenda& agenda_;
  std::uint32_t per_server_;
  std::vector<Component> all_;
  std::vector<Life> lives_;                         // of the components of classes, which are the first
  std::vector<std::uint32_t> first_of_class_;       // components
  std::vector<std::vector<std::uint32_t>> listed_;  // by server: outages of the list, as components
  std::vector<bool> is_cold_;                       // by server: whether it is suspended; empty without cold spares
  std::uint32_t first_lent_ = 0;
};

}  // namespace contend

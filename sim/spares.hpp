#pragma once
// Spares are servers that are out of service until others fail (FailureSpec::spares). They know which servers work. A
// spare stands in for servers of its owner (servers_with_spares()): what others own is none of their business.

#include "sim/admission.hpp"
#include "sim/agenda.hpp"
#include "sim/components.hpp"
#include "sim/engine_state.hpp"
#include "sim/gpus_in_service.hpp"

#include <cstdint>
#include <set>
#include <vector>

namespace contend {

class Spares {
 public:
  Spares(EngineState& state, Admission& admission, Agenda& agenda, Components& components, GpusInService& gpus);

  /// Takes the first spares out of service.
  void withhold();
  /// Takes what no job holds of the servers that are to become spares.
  void withhold_free();
  /// A spare has started.
  void on_started(std::uint32_t server);
  /// A component on the server goes down.
  void on_failed(std::uint32_t server);
  /// A component on the server is back, and so are its GPUs.
  void on_repaired(std::uint32_t server);
  /// Has spares take the places of servers that failed: hot ones, then those that start already, then cold ones, and of
  /// each the first of a type that servers in service lack, else the first. Before that, servers that were to become
  /// spares stay in service. At last, cold ones start for the hot ones that are missing.
  void replace_failed();

 private:
  /// `starting`: a spare that will take a place. `warming`: a cold spare that will be a hot one.
  enum class Role : std::uint8_t { active, hot, cold, starting, warming };
  struct Server {
    std::uint32_t broken = 0;  // components on it that are down
    Role role = Role::active;
    /// True if jobs may use it, or soon may.
    [[nodiscard]] bool works() const { return broken == 0 && (role == Role::active || role == Role::starting); }
  };

  [[nodiscard]] bool is_of_owner(std::uint32_t server) const { return pool_.first <= server && server < pool_.last; }
  void count(std::uint32_t server, int change);
  [[nodiscard]] std::int64_t& missing_like(std::uint32_t server);
  [[nodiscard]] std::uint32_t best_of(const std::set<std::uint32_t>& pool);
  [[nodiscard]] std::uint32_t stand_in_for(std::uint32_t server);
  [[nodiscard]] bool call_back();
  void vacate(std::uint32_t server);
  void stay_in_service(std::uint32_t server);
  void keep(std::uint32_t server, Role role);
  void settle(std::uint32_t server);
  void leave_pools(std::uint32_t server);
  void start(std::uint32_t server, Role role, Time delay);
  void put_into_service(std::uint32_t server);
  /// True if a hot spare is missing.
  [[nodiscard]] bool lacks_hot() const { return std::ssize(hot_) + std::ssize(warming_) < spec_.spares; }

  EngineState& state_;
  const FailureSpec& spec_;
  Admission& admission_;
  Agenda& agenda_;
  Components& components_;
  GpusInService& gpus_;
  std::uint32_t per_server_;
  std::vector<Server> servers_;                   // empty if nothing can fail
  ServerRange pool_;                              // of the owner of the spares
  std::int64_t working_ = 0;                      // servers of it that work or start and are no spares
  std::int64_t wanted_ = 0;                       // how many are to be in service
  std::vector<std::int64_t> missing_;             // by type: how many fewer work than at first; below 0: more
  std::set<std::uint32_t> hot_, warming_, cold_;  // spares that work
  std::vector<Draining> vacating_;  // servers in service, one more than wanted each, that are to be spares
};

}  // namespace contend

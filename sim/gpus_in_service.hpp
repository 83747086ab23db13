#pragma once
// GpusInService knows for which reasons GPUs don't work, and for how long they did not. A GPU may have several causes
// of one reason, such as a failure of its own and one of its server; it works when it has none.
//
// Numbers of GPUs that a server of a smaller type doesn't have are never in service, and nothing happens to them.
//
// A GPU that is out of service is held in the index of free resources like one that a job has to itself. So policies
// need not know of failures: what has failed is not free.

#include "sim/engine_state.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace contend {

class GpusInService {
 public:
  explicit GpusInService(EngineState& state) : state_{state}, gpus_(state.options.failures.any() ? state.gpus() : 0) {}

  /// Counts a further cause for which the GPU doesn't work. True if it is the first: the GPU is to leave the service.
  [[nodiscard]] bool add_cause(GpuId id, OutReason reason);
  /// Takes a cause back. Without any the GPU works: jobs may have it, or the one that went on without it has it back.
  void remove_cause(GpuId id, OutReason reason);
  /// Takes the GPU out of service for a further cause if no job holds it. False if one does.
  [[nodiscard]] bool withhold(GpuId id, OutReason reason);
  /// The GPUs that have come back, since this was called last, to jobs that went on without them.
  [[nodiscard]] std::vector<GpuId> take_rejoined() { return std::exchange(rejoined_, {}); }
  /// Tells the observer of decisions how many GPUs are out of service, if that has changed.
  void tell();
  /// The time until `now` for which the GPU was out of service.
  [[nodiscard]] Time down(GpuId id, Time now) const;

 private:
  struct Gpu {
    std::array<std::uint16_t, kOutReasons> causes{};  // by OutReason
    Time since, down;
    [[nodiscard]] std::optional<OutReason> out() const;
  };

  void count_cause(GpuId id, OutReason reason, int by);

  EngineState& state_;
  std::vector<Gpu> gpus_;  // empty if nothing can fail
  std::vector<GpuId> rejoined_;
  OutOfService out_, told_;  // the GPUs out of service, and as the observer was last told
};

/// GPUs first, ..., first + count - 1, which are taken out of service one by one, as jobs leave them.
class Draining {
 public:
  /// `of`: whose GPUs these are.
  Draining(std::uint32_t of, std::uint32_t first, std::uint32_t count, OutReason reason)
      : of_{of}, first_{first}, reason_{reason}, is_withheld_(count) {}
  [[nodiscard]] std::uint32_t of() const { return of_; }
  [[nodiscard]] bool is_withheld(std::uint32_t gpu) const { return is_withheld_[gpu - first_]; }
  /// True if all are withheld.
  [[nodiscard]] bool is_over() const;
  /// Withholds those that no job holds.
  void withhold_free(GpusInService& gpus);
  /// Puts those back that are withheld.
  void undo(GpusInService& gpus) const;

 private:
  std::uint32_t of_, first_;
  OutReason reason_;
  std::vector<bool> is_withheld_;
};

}  // namespace contend

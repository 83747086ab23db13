#pragma once
// The log of a run by which others check its results without this program: docs/reference/certificate.md.

#include "sim/ids.hpp"
#include "sim/job.hpp"
#include "sim/scheduling.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

struct Replica;

/// Writes down the life of all jobs of a run. It sees decisions only, so a run that is logged leaps as one that isn't.
class CertificateRecorder final : public DecisionObserver {
 public:
  /// Of the replica with this seed.
  CertificateRecorder(std::uint64_t seed, std::span<const JobSpec> jobs);

  void queued(Time now, JobId job) override;
  void started(Time now, JobId job, std::span<const GpuId> gpus, Time pause) override;
  void preempted(Time now, JobId job, JobId by) override;
  void resized(Time now, JobId job) override;
  void interrupted(Time now, JobId job, std::string_view cause) override;
  void adapted(Time now, JobId job, std::string_view what) override;
  void ended(Time now, JobId job, bool is_done) override;
  void rejected(Time now, JobId job, std::string_view reason) override;
  void blocked(Time /*now*/, JobId /*job*/, Why /*why*/, JobId /*by*/) override {}
  void reserved(Time now, JobId job, Time start, std::span<const GpuId> gpus) override;

  /// The rows, after a run that ended then.
  [[nodiscard]] std::string take(Time end);

 private:
  struct Job {
    std::string name;
    std::optional<Time> work;  ///< all attempts of a job with a duration
    bool serves = false;       ///< it ends when its service is done
    bool arrived = false;
    bool interrupted = false;       ///< ended() is about to follow
    Time promised = Time::never();  ///< the start that was written last
  };
  void add(Time now, std::string_view event, std::string_view job, std::span<const GpuId> gpus = {},
           std::optional<Time> seconds = {}, std::string_view text = {});

  std::string begin_;  ///< of each row
  std::vector<Job> jobs_;
  std::string rows_;
};

/// The files with the logs of these runs.
[[nodiscard]] std::string certificate_csv(std::span<const Replica> replicas);
[[nodiscard]] std::string transfers_csv(std::span<const Replica> replicas);
[[nodiscard]] std::string graphs_csv(std::span<const Replica> replicas);

}  // namespace contend

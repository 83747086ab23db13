// First in, first out: jobs start in order of submission.

#include "policies/factories.hpp"

namespace contend {

namespace {

class Fifo final : public SchedulingPolicy {
 public:
  explicit Fifo(bool strict) : strict_{strict} {}
  [[nodiscard]] std::int64_t key(const JobView& job) const override { return job.submit.ns(); }
  [[nodiscard]] bool strict() const override { return strict_; }

 private:
  bool strict_;
};

}  // namespace

std::unique_ptr<SchedulingPolicy> make_fifo(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<Fifo>(parameters.get<bool>("strict"));
}

}  // namespace contend

#pragma once
// The bodies that jobs have (sim/job_body.hpp). What makes a new body known is a member here.

#include "sim/graph_body.hpp"
#include "sim/service_body.hpp"
#include "sim/timed_body.hpp"

#include <functional>
#include <utility>

namespace contend {

struct JobBodies {
  /// Gives each job of the state its body. `ends` and `resizes`: see ServiceBody.
  JobBodies(EngineState& state, Executor& executor, Courier& courier, Saver& saver, std::function<void(JobId)> ends,
            std::function<void(JobId)> resizes)
      : timed{state, saver},
        graph{state, executor, courier, saver},
        service{state, std::move(ends), std::move(resizes)} {
    for (JobRun& run : state.jobs) run.body = body_of(*run.spec);
  }

  TimedBody timed;
  GraphBody graph;
  ServiceBody service;

 private:
  [[nodiscard]] JobBody* body_of(const JobSpec& job) {
    if (job.service >= 0) return &service;
    if (job.duration) return &timed;
    return &graph;
  }
};

}  // namespace contend

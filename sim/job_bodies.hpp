#pragma once
// The bodies that jobs have (sim/job_body.hpp). What makes a new body known is a member here.

#include "sim/graph_body.hpp"
#include "sim/timed_body.hpp"

namespace contend {

struct JobBodies {
  /// Gives each job of the state its body.
  JobBodies(EngineState& state, Executor& executor, Courier& courier, Saver& saver)
      : timed{state, saver}, graph{state, executor, courier, saver} {
    for (JobRun& run : state.jobs) run.body = run.spec->duration ? static_cast<JobBody*>(&timed) : &graph;
  }

  TimedBody timed;
  GraphBody graph;
};

}  // namespace contend

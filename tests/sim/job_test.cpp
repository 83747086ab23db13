#include "sim/job.hpp"

#include <set>
#include <string>
#include <utility>

#include <doctest/doctest.h>

using namespace contend;

namespace {
constexpr JobState kStates[] = {JobState::submitted, JobState::queued, JobState::running, JobState::preempted,
                                JobState::finished,  JobState::failed, JobState::given_up};
}

TEST_CASE("a job takes the documented steps and no other") {
  const std::set<std::pair<JobState, JobState>> legal{
      {JobState::submitted, JobState::queued}, {JobState::submitted, JobState::failed},
      {JobState::queued, JobState::running},   {JobState::queued, JobState::failed},
      {JobState::queued, JobState::given_up},  {JobState::running, JobState::finished},
      {JobState::running, JobState::queued},   {JobState::running, JobState::preempted},
      {JobState::preempted, JobState::running}};
  for (const JobState from : kStates) {
    for (const JobState to : kStates) {
      INFO(to_string(from), " -> ", to_string(to));
      CHECK(is_legal_step(from, to) == legal.contains({from, to}));
    }
  }
}

TEST_CASE("every state has a name of its own") {
  std::set<std::string> names;
  for (const JobState state : kStates) names.insert(to_string(state));
  CHECK(names.size() == std::size(kStates));
  CHECK(names.contains("preempted"));
}

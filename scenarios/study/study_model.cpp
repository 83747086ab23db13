#include "scenarios/study/study_model.hpp"

#include "scenarios/study/study_places.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "sim/error.hpp"

namespace contend {

TimedModel study_model(const IterationStudy& study) {
  if (!study.given()) throw InputError{"there is no iteration to study: give overlap.training"};
  try {
    return entry_model(study.entry);
  } catch (const InputError& error) {
    // A network of the catalogue only fails for a batch that no device could compute.
    throw InputError{placed(study, entry_key(study, study.entry.layers ? "layers" : "batch"), error.complaints())};
  }
}

}  // namespace contend

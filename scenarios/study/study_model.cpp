#include "scenarios/study/study_model.hpp"

#include "scenarios/study/study_places.hpp"
#include "scenarios/training/trained_model.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "sim/error.hpp"

namespace contend {

TimedModel study_model(const IterationStudy& study) {
  if (!study.given())
    throw InputError{"there is no iteration to study: give overlap.model, overlap.layers or overlap.training"};
  try {
    return study.entry ? entry_model(*study.entry) : trained_model(study);
  } catch (const InputError& error) {
    // A network of the catalogue only fails for a batch that no device could compute.
    throw InputError{placed(study, study.layers ? "overlap.layers" : "overlap.batch", error.complaints())};
  }
}

}  // namespace contend

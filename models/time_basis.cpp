#include "models/time_basis.hpp"

namespace contend {

std::string_view to_string(PredictionBasis basis) {
  switch (basis) {
    case PredictionBasis::measured:
      return "measured";
    case PredictionBasis::interpolated:
      return "interpolated";
    case PredictionBasis::extrapolated:
      return "extrapolated";
  }
  return "unknown";
}

}  // namespace contend

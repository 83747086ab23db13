#include "models/serving/step_clock.hpp"

#include <algorithm>
#include <cmath>

namespace contend {

std::int64_t ReplicaPower::decoding(std::int64_t sequences) const {
  if (decodes.empty()) return prompts;
  const auto above =
      std::find_if(decodes.begin(), decodes.end(), [&](const auto& point) { return point.first >= sequences; });
  if (above == decodes.end()) return decodes.back().second;
  if (above == decodes.begin()) return above->second;
  const auto& [low, low_mw] = *(above - 1);
  const auto& [high, high_mw] = *above;
  return low_mw + (high_mw - low_mw) * (sequences - low) / (high - low);
}

StepLaw at_pace(StepLaw law, double pace) {
  if (pace == 1) return law;
  const auto slow = [pace](std::int64_t& term) {
    term = static_cast<std::int64_t>(std::ceil(static_cast<double>(term) / pace));
  };
  for (std::int64_t* const term : {&law.weights, &law.token, &law.cache, &law.pair}) slow(*term);
  std::for_each(law.by_tokens.begin(), law.by_tokens.end(), slow);
  std::for_each(law.by_answers.begin(), law.by_answers.end(), slow);
  return law;
}

}  // namespace contend

#include "models/serving/step_law.hpp"

#include "sim/error.hpp"

#include <algorithm>

namespace contend {

namespace {

Int128 head(const std::vector<std::int64_t>& by_answers, std::int64_t answers) {
  if (by_answers.empty()) return 0;
  return by_answers[std::min(static_cast<std::size_t>(answers), by_answers.size() - 1)];
}

}  // namespace

Int128 StepLaw::products(std::int64_t tokens) const {
  if (by_tokens.empty()) return std::max<Int128>(weights, Int128{token} * tokens);
  const auto last = static_cast<std::int64_t>(by_tokens.size()) - 1;
  if (tokens <= last) return by_tokens[static_cast<std::size_t>(tokens)];
  return by_tokens.back() + Int128{token} * (tokens - last);
}

Int128 StepLaw::step(const StepWork& work) const {
  return overhead + Int128{sequence} * work.sequences + products(work.tokens) + head(by_answers, work.answers) +
         Int128{cache} * work.cached + Int128{pair} * work.pairs;
}

void StepLaw::check() const {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  const auto fits = [](std::int64_t term) { return term >= 0 && term <= kMost; };
  const bool all = fits(overhead) && fits(sequence) && fits(weights) && fits(token) && fits(cache) && fits(pair) &&
                   std::all_of(by_tokens.begin(), by_tokens.end(), fits) &&
                   std::all_of(by_answers.begin(), by_answers.end(), fits);
  if (!all) throw InputError("a time of a step is negative or above 13 days");
  if (step({.tokens = 1, .sequences = 1, .answers = 0, .cached = 1, .pairs = 0}) <= 0) {
    throw InputError("a step takes no time: give it an overhead, or a time of weights or tokens");
  }
}

}  // namespace contend

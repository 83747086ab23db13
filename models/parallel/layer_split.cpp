#include "models/parallel/layer_split.hpp"

#include "sim/complaints.hpp"

#include <cstddef>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

class SplitCheck {
 public:
  SplitCheck(const TransformerModel& model, const LayerSplit& split) : model_{model}, split_{split} {}

  void run() {
    degree("tensor", split_.tensor);
    degree("context", split_.context);
    degree("expert", split_.expert);
    degree("expert_tensor", split_.expert_tensor);
    found_.throw_if_any();
    for (std::size_t number = 0; number <= model_.kinds.size(); ++number)
      found_.collect([&] { check(model_.kind(number)); });
    if (!model_.mixture) {
      for (const auto& [key, value] : {std::pair{"expert", split_.expert}, {"expert_tensor", split_.expert_tensor}}) {
        if (value > 1)
          found_.add(key, fmt::format("expected 1, because {} has no experts, got {}", model_.name, value));
      }
    }
    found_.throw_if_any();
  }

 private:
  /// The faults with one kind of layer, which another may have as well.
  void check(const TransformerLayer& kind) const {
    SplitCheck one{model_, split_};
    if (kind.attends && kind.recurrence) {
      one.recurrence(*kind.recurrence);
    } else if (kind.attends) {
      one.divides("tensor", split_.tensor, kind.heads, "heads");
      one.divides("tensor", split_.tensor, kind.key_value_heads, "key and value heads");
    }
    if (kind.feed_forward > 0) one.divides("tensor", split_.tensor, kind.feed_forward, "units of the feed-forward");
    if (kind.mixture) one.mixture(*kind.mixture);
    one.found_.throw_if_any();
  }

  void recurrence(const Recurrence& sizes) {
    divides("tensor", split_.tensor, sizes.heads, "heads of the recurrence");
    // Ranks that are more than the key heads have copies of them.
    if (split_.tensor % sizes.key_heads != 0)
      divides("tensor", split_.tensor, sizes.key_heads, "key heads of the recurrence");
    if (split_.context > 1)
      found_.add("context",
                 fmt::format("expected 1, because the recurrent layers of {} pass a state from each token to "
                             "the next, got {}",
                             model_.name, split_.context));
  }

  void degree(const char* key, std::int64_t value) {
    constexpr std::int64_t kMost = 1 << 20;
    if (value < 1 || value > kMost) found_.add(key, fmt::format("expected 1 to {}, got {}", kMost, value));
  }
  void divides(const char* key, std::int64_t degree, std::int64_t number, const char* what) {
    if (number % degree != 0)
      found_.add(key, fmt::format("expected a divisor of the {} {} of {}, got {}", number, what, model_.name, degree));
  }
  void mixture(const MixtureOfExperts& mixture) {
    divides("expert", split_.expert, mixture.experts, "experts");
    divides("expert_tensor", split_.expert_tensor, mixture.expert_feed_forward, "units of an expert");
    if (mixture.shared_feed_forward > 0)
      divides("tensor", split_.tensor, mixture.shared_feed_forward, "units of the shared experts");
    if (split_.tensor > 1 && !split_.sequence_parallel)
      found_.add("sequence_parallel",
                 fmt::format("expected true for experts with tensor {}: without it each of these ranks would dispatch "
                             "the same tokens",
                             split_.tensor));
  }

  const TransformerModel& model_;
  const LayerSplit& split_;
  Complaints found_;
};

}  // namespace

void validate(const TransformerModel& model, const LayerSplit& split) {
  SplitCheck{model, split}.run();
}

void validate_sequence(std::int64_t tokens, const LayerSplit& split) {
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  Complaints found;
  const std::int64_t pieces = split.context > 1 ? 2 * split.context : 1;
  if (tokens < 1 || tokens > kMost) {
    found.add("sequence", fmt::format("expected 1 to {} tokens, got {}", kMost, tokens));
  } else if (tokens % pieces != 0) {
    found.add("sequence", fmt::format("expected a multiple of {}, two pieces for each of {} context ranks, got {}",
                                      pieces, split.context, tokens));
  } else if (split.sequence_parallel && tokens / split.context % split.tensor != 0) {
    found.add("sequence", fmt::format("expected {} tokens on a context rank to be a multiple of tensor, {}",
                                      tokens / split.context, split.tensor));
  }
  found.throw_if_any();
}

std::int64_t vocabulary_rows(const TransformerModel& model, const LayerSplit& split) {
  return (model.vocabulary + split.tensor - 1) / split.tensor;
}

RankParameters rank_parameters(const TransformerModel& model, const LayerRange& stage, const LayerSplit& split) {
  return rank_parameters(model, stage, split, stage_parameters(model, stage));
}

RankParameters rank_parameters(const TransformerModel& model, const LayerRange& stage, const LayerSplit& split,
                               ParameterSplit stored) {
  // Tables of tokens are divided by rows, which need not come out even; so are the tables of relative positions by
  // heads.
  std::int64_t tables = 0;
  const std::int64_t table = model.vocabulary * model.hidden;
  if (stage.embedding) ++tables;
  if (stage.head && model.head == OutputHead::untied) ++tables;
  if (stage.head && !stage.embedding && (model.head == OutputHead::tied || model.mtp_layers > 0)) ++tables;
  stored.divided -= tables * table;
  RankParameters rank;
  rank.whole = stored.whole;
  rank.dense = stored.divided / split.tensor + tables * vocabulary_rows(model, split) * model.hidden + stored.whole;
  rank.experts = stored.experts / (split.expert * split.expert_tensor);
  rank.dense_tensors = stored.tensors;
  rank.expert_tensors = stored.expert_tensors / split.expert;
  return rank;
}

}  // namespace contend

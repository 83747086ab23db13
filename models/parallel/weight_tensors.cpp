#include "models/parallel/weight_tensors.hpp"

namespace contend {
namespace {

class TensorList {
 public:
  explicit TensorList(const TransformerModel& model) : model_{model} {}

  [[nodiscard]] std::vector<WeightTensor> take() { return std::move(tensors_); }

  void layer(std::int64_t index) {
    attention();
    const bool cross = model_.has_cross_attention(index);
    if (cross) attention();
    if (model_.is_mixture(index))
      mixture(*model_.mixture);
    else
      feed_forward(model_.feed_forward, 1, false);
    const bool ends_encoder = index + 1 == model_.encoder_layers && model_.final_norm;
    norm(model_.hidden, (cross ? 3 : 2) + (ends_encoder ? 1 : 0));
    if ((index == 0 || index == model_.encoder_layers) && model_.relative_buckets > 0)
      add({WeightGroup::relative, model_.relative_buckets, model_.heads, 1, TensorCut::columns});
  }

  void embedding() {
    table(WeightGroup::embedding);
    for (const std::int64_t rows : {model_.positions, model_.token_types})
      if (rows > 0) add({WeightGroup::embedding, rows, model_.hidden});
    if (model_.embedding_norm) norm(model_.hidden, 1);
  }

  void head() {
    if (model_.head == OutputHead::untied) table(WeightGroup::head);
    if (model_.final_norm) norm(model_.hidden, 1);
    if (!model_.pooler) return;
    add({WeightGroup::head, model_.hidden, model_.hidden});
    add({WeightGroup::bias, model_.hidden});
  }

  void prediction_module() {
    layer(model_.all_layers() - 1);
    add({WeightGroup::prediction, model_.hidden, 2 * model_.hidden, 1, TensorCut::rows});
    norm(model_.hidden, 3);
  }

  void table(WeightGroup group) {
    add({.group = group, .rows = model_.vocabulary, .columns = model_.hidden, .cut = TensorCut::rows, .padded = true});
  }

 private:
  void add(const WeightTensor& tensor) { tensors_.push_back(tensor); }
  void norm(std::int64_t width, std::int64_t count) {
    add({WeightGroup::norm, width, 1, count * (model_.norm == NormKind::layer ? 2 : 1)});
  }
  /// A product of which ranks compute parts of the outputs, with its bias.
  void by_outputs(WeightGroup group, std::int64_t outputs, std::int64_t inputs, bool bias) {
    add({group, outputs, inputs, 1, TensorCut::rows});
    if (bias) add({WeightGroup::bias, outputs, 1, 1, TensorCut::rows});
  }

  void attention() {
    const std::int64_t hidden = model_.hidden;
    if (model_.latent) {
      latent(*model_.latent);
    } else {
      const bool bias = model_.biases != ProductBiases::none;
      by_outputs(WeightGroup::query, model_.query_width(), hidden, bias);
      by_outputs(WeightGroup::key, model_.key_width(), hidden, bias);
      by_outputs(WeightGroup::value, model_.value_width(), hidden, bias);
      if (model_.query_key_norms) add({WeightGroup::norm, model_.head_size, 1, 2});
    }
    add({WeightGroup::output, hidden, model_.context_width(), 1, TensorCut::columns});
    if (!model_.latent && model_.biases == ProductBiases::all) add({WeightGroup::bias, hidden});
  }

  void latent(const LatentAttention& sizes) {
    if (sizes.query_rank > 0) {
      add({WeightGroup::latent, sizes.query_rank, model_.hidden});
      norm(sizes.query_rank, 1);
    }
    by_outputs(WeightGroup::query, model_.query_width(), sizes.query_rank > 0 ? sizes.query_rank : model_.hidden,
               false);
    add({WeightGroup::latent, sizes.key_value_rank + sizes.rotary_size, model_.hidden});
    norm(sizes.key_value_rank, 1);
    by_outputs(WeightGroup::latent, model_.heads * (sizes.plain_size + sizes.value_size), sizes.key_value_rank, false);
  }

  void feed_forward(std::int64_t width, std::int64_t count, bool experts) {
    const std::int64_t hidden = model_.hidden;
    const bool bias = model_.biases == ProductBiases::all;
    if (model_.gated) add({WeightGroup::gate, width, hidden, count, TensorCut::rows, experts});
    add({WeightGroup::up, width, hidden, count, TensorCut::rows, experts});
    add({WeightGroup::down, hidden, width, count, TensorCut::columns, experts});
    if (!bias) return;
    add({WeightGroup::bias, width, 1, count * (model_.gated ? 2 : 1), TensorCut::rows, experts});
    add({WeightGroup::bias, hidden, 1, count, TensorCut::none, experts});
  }

  void mixture(const MixtureOfExperts& sizes) {
    add({WeightGroup::router, sizes.experts, model_.hidden});
    if (sizes.router_bias) add({WeightGroup::bias, sizes.experts});
    feed_forward(sizes.expert_feed_forward, sizes.experts, true);
    if (sizes.shared_feed_forward > 0) feed_forward(sizes.shared_feed_forward, 1, false);
  }

  const TransformerModel& model_;
  std::vector<WeightTensor> tensors_;
};

template <class Add>
std::vector<WeightTensor> list_of(const TransformerModel& model, const Add& add) {
  TensorList list{model};
  add(list);
  return list.take();
}

}  // namespace

bool WeightTensor::is_hidden() const {
  return rows > 1 && columns > 1 && group != WeightGroup::embedding && group != WeightGroup::head &&
         group != WeightGroup::relative;
}

WeightShape WeightTensor::whole(const LayerSplit& split) const {
  return {rows, columns, experts ? count / split.expert : count, is_hidden()};
}

WeightShape WeightTensor::part(const LayerSplit& split) const {
  WeightShape shape = whole(split);
  const std::int64_t ranks = experts ? split.expert_tensor : split.tensor;
  if (cut == TensorCut::rows) shape.rows = padded ? (rows + ranks - 1) / ranks : rows / ranks;
  if (cut == TensorCut::columns) shape.columns = columns / ranks;
  return shape;
}

std::vector<WeightTensor> layer_tensors(const TransformerModel& model, std::int64_t layer) {
  return list_of(model, [&](TensorList& list) { list.layer(layer); });
}

std::vector<WeightTensor> embedding_tensors(const TransformerModel& model) {
  return list_of(model, [](TensorList& list) { list.embedding(); });
}

std::vector<WeightTensor> head_tensors(const TransformerModel& model) {
  return list_of(model, [](TensorList& list) { list.head(); });
}

std::vector<WeightTensor> mtp_tensors(const TransformerModel& model) {
  return list_of(model, [](TensorList& list) { list.prediction_module(); });
}

std::vector<WeightTensor> stage_tensors(const TransformerModel& model, const LayerRange& stage) {
  return list_of(model, [&](TensorList& list) {
    if (stage.embedding) list.embedding();
    for (std::int64_t layer = stage.first; layer < stage.last; ++layer) list.layer(layer);
    if (!stage.head) return;
    list.head();
    for (std::int64_t i = 0; i < model.mtp_layers; ++i) list.prediction_module();
    const bool again = model.mtp_layers > 0 || model.head == OutputHead::tied;
    if (again && !stage.embedding) list.table(WeightGroup::embedding);
  });
}

}  // namespace contend

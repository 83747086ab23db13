// Arbitrary bytes as a file of layer times: either an InputError, or a model whose CSV reads back as the same CSV. The
// first line may hold options: `#format kineto`, `#select A6000/resnet50`. The disk is never touched.

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "tests/fuzz/target.hpp"
#include "traces/layers/layer_reader.hpp"
#include "traces/layers/layer_table_csv.hpp"
#include "traces/layers/timed_csv.hpp"

#include <string>
#include <string_view>

namespace {

using contend::LayerReadOptions;

/// Sizes for a trace that has none.
contend::LayerTable sizes() {
  contend::LayerTable table;
  contend::Layer layer;
  layer.name = "conv";
  layer.parameters = {{.name = "weight", .elements = 6, .shape = {2, 3}}};
  table.layers = {layer};
  return table;
}

/// Takes a line `#NAME VALUE` off the text.
std::string option(std::string_view& text, std::string_view name) {
  if (!text.starts_with('#') || !text.substr(1).starts_with(name)) return {};
  text.remove_prefix(1 + name.size());
  return std::string{contend::fuzz::take(text, '\n')};
}

/// Calls `read`; false if the text is refused.
template <class Read>
bool is_read(const Read& read) {
  try {
    read();
    return true;
  } catch (const contend::InputError& error) {
    CONTEND_CHECK(!error.complaints().empty(), "an input error says what is wrong");
    return false;
  }
}

void check_timed(std::string_view text, const LayerReadOptions& options) {
  contend::TimedModel model;
  std::string csv;
  if (!is_read([&] {
        model = contend::parse_timed_model(text, "fuzz", options);
        csv = contend::timed_csv(model);
      }))
    return;
  const auto again = contend::fuzz::must_accept([&] { return contend::parse_timed_csv(csv, "again"); });
  CONTEND_CHECK(contend::timed_csv(again) == csv, "written layers read back the same");
  CONTEND_CHECK(model.backward() > contend::Time{} && model.gradient().count() > 0, "a model that was read is sound");
}

/// A table of layers that was read can be summed.
void check_table(std::string_view text) {
  contend::LayerTable table;
  if (is_read([&] { table = contend::parse_layer_table(text, "fuzz"); }))
    CONTEND_CHECK(table.forward_flops() >= 0 && table.backward_flops() >= 0, "sums of flops fit 64 bits");
}

/// As times without sizes, as times beside sizes, and as a table of what layers compute.
void run_layers(std::string_view text) {
  LayerReadOptions options;
  options.format = option(text, "format ");
  options.select = option(text, "select ");
  check_timed(text, options);
  const contend::LayerTable table = sizes();
  options.sizes = &table;
  check_timed(text, options);
  check_table(text);
}

const contend::fuzz::Target kLayers{"layers", run_layers};

}  // namespace

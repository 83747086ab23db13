// Arbitrary bytes as a file of layer times: either an InputError, or a model whose CSV reads back as the same CSV. The
// first line may hold options: `#format kineto`, `#select A6000/resnet50`. The disk is never touched.

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "traces/layers/layer_reader.hpp"
#include "traces/layers/table_csv.hpp"
#include "traces/layers/timed_csv.hpp"

#include <cstddef>
#include <cstdint>
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
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string value{text.substr(0, end)};
  text.remove_prefix(std::min(end + 1, text.size()));
  return value;
}

void check_error(const contend::InputError& error) {
  CONTEND_CHECK(!error.complaints().empty(), "an input error says what is wrong");
}

void check_timed(std::string_view text, const LayerReadOptions& options) {
  contend::TimedModel model;
  std::string csv;
  try {
    model = contend::parse_timed_model(text, "fuzz", options);
    csv = contend::timed_csv(model);
  } catch (const contend::InputError& error) {
    return check_error(error);
  }
  // Outside the try: what was written must not be refused.
  CONTEND_CHECK(contend::timed_csv(contend::parse_timed_csv(csv, "again")) == csv, "written layers read back the same");
  CONTEND_CHECK(model.backward() > contend::Time{} && model.gradient().count() > 0, "a model that was read is sound");
}

void check_table(std::string_view text) {
  std::string csv;
  try {
    csv = contend::table_csv(contend::parse_table_csv(text, "fuzz"));
  } catch (const contend::InputError& error) {
    return check_error(error);
  }
  CONTEND_CHECK(contend::table_csv(contend::parse_table_csv(csv, "again")) == csv,
                "a written table reads back the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text{reinterpret_cast<const char*>(data), size};
  LayerReadOptions options;
  options.format = option(text, "format ");
  options.select = option(text, "select ");
  check_timed(text, options);
  const contend::LayerTable table = sizes();
  options.sizes = &table;
  check_timed(text, options);
  check_table(text);
  return 0;
}

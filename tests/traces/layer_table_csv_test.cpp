#include "traces/layers/layer_table_csv.hpp"
#include "models/catalogue/builder.hpp"
#include "models/cost_model.hpp"
#include "tests/devices.hpp"
#include "tests/traces/layer_test_kit.hpp"

#include <string>

using namespace contend;

namespace {

constexpr const char* kLayerTableHeader =
    "layer,kind,tensors,forward_flops,input_gradient_flops,weight_gradient_flops,input_elements,output_elements";

/// What is wrong with a table of these rows, which have `columns` behind the usual ones.
std::string table_complaints(const std::string& rows, const std::string& columns = {}) {
  try {
    static_cast<void>(parse_layer_table(kLayerTableHeader + columns + "\n" + rows, "t.csv"));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("layer tables: what a program computes, for one sample") {
  const LayerTable table =
      parse_layer_table(std::string{kLayerTableHeader} +
                            ",model,sample,shared_parameters,input_reads,kernels,input_needs_gradient\n"
                            "fc,linear,weight=[3x2];bias=[3],24,0,24,4,6,net,a word,0,1,1,0\n"
                            "norm,normalization,,0,0,0,6,6,net,a word,7,2,6,1\n",
                        "folder/t.csv");
  CHECK(table.name == "net");
  CHECK(table.source == "folder/t.csv");
  CHECK(table.sample == "a word");
  REQUIRE(table.layers.size() == 2);
  CHECK(table.layers[0].parameter_elements() == 9);
  CHECK(table.layers[0].backward_flops() == 24);
  CHECK_FALSE(table.layers[0].input_needs_gradient);
  CHECK(table.layers[1].kind == LayerKind::normalization);
  CHECK(table.layers[1].shared_elements == 7);
  CHECK(table.layers[1].input_reads == 2);
  CHECK(table.layers[1].kernels == 6);
  CHECK(table.layers[1].input_needs_gradient);
}

TEST_CASE("layer tables: a device times their products as the products of the catalogue") {
  // Products of 5 x 8 by 8 x 4, and a window of 3 x 3 over 2 channels of 6 x 6 positions: 2 x 5 x 8 x 4 = 320 and
  // 2 x 2 x 9 x (3 x 6 x 6) = 3,888 flops.
  NetworkBuilder net{"net", "", ""};
  net.linear("fc", {.channels = 8, .height = 5, .needs_gradient = true}, 4, Bias::no);
  net.convolution("conv", {.channels = 2, .height = 6, .width = 6}, 3, Window::same(3, 3), Bias::no);
  const LayerTable table =
      parse_layer_table(std::string{kLayerTableHeader} +
                            ",input_needs_gradient,geometry\n"
                            "fc,linear,weight=[4x8],320,320,320,40,20,1,linear channels=8 height=5 out_channels=4\n"
                            "conv,convolution,weight=[3x2x3x3],3888,0,3888,72,108,0,convolution channels=2 height=6 "
                            "width=6 out_channels=3 "
                            "window_height=3 window_width=3 pad_height=1 pad_width=1\n",
                        "t.csv");
  Device device = h100();  // with tiles, whose number depends on all sizes
  device.kernels.source = "test";
  device.kernels.memory = 1;
  device.kernels.products[static_cast<std::size_t>(DataType::bf16)] = {.share = 0.8, .fill = 100};
  RooflineOptions options;
  options.type = DataType::bf16;
  options.sheet = true;
  const TimedModel made = roofline_times(table, device, 64, options);
  const TimedModel known = roofline_times(net.take(), device, 64, options);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(made.layers[i].forward == known.layers[i].forward);
    CHECK(made.layers[i].backward == known.layers[i].backward);
  }
}

TEST_CASE("layer tables: every fault has its line") {
  check_says(table_complaints("fc,linea,weight=[2],1,1,1,1,1\n"), "t.csv:2: kind: expected convolution or linear or");
  check_says(table_complaints("fc,linea,weight=[2],1,1,1,1,1\n"), "did you mean \"linear\"?");
  check_says(table_complaints("fc,linear,,1,1,1,1,1\n"), "a layer of kind linear needs parameters");
  check_says(table_complaints("fc,linear,weight=[2],-1,1,1,1,1\n"), "t.csv:2: forward_flops: expected");
  check_says(table_complaints("fc,linear,weight=[2],9000000000000000000,1,1,1,1\n"),
             "t.csv:2: forward_flops: expected");
  check_says(table_complaints("fc,linear,weight=[2],1,1,1,1,1,2\n", ",input_needs_gradient"),
             "t.csv:2: input_needs_gradient: expected");
  const auto sizes = [](const std::string& geometry) {
    return table_complaints("fc,linear,weight=[4x8],320,0,0,40,20," + geometry + "\n", ",geometry");
  };
  CHECK(sizes("linear channels=8 height=5 out_channels=4").empty());
  check_says(sizes("linear channels=8 height=5 out_channels=5"),
             "t.csv:2: geometry: its sizes make 400 flops, but forward_flops is 320");
  check_says(sizes("lstm channels=8"), "unknown operation \"lstm\"");
  check_says(sizes("linear channels=8 height=0"), "\"height=0\" is no size");
  check_says(sizes("linear rows=8"), "\"rows=8\" is no size");
  check_says(sizes("linear causal=2"), "\"causal=2\" is no size");
}

#include "layer_test_kit.hpp"

#include "text/byte_source.hpp"
#include "traces/layers/kineto.hpp"

#include <string>
#include <vector>

#include <fmt/core.h>

using namespace contend;

namespace {

/// A profile in the making: events as the profiler writes them. Process 100, forward thread 100, autograd thread 101.
class Profile {
 public:
  void event(const std::string& category, const std::string& name, int thread, double ts, double dur,
             const std::string& args) {
    events_ += fmt::format(R"({}{{"ph": "X", "cat": "{}", "name": "{}", "pid": 100, "tid": {}, "ts": {}, "dur": {},)",
                           events_.empty() ? "" : ",\n", category, name, thread, ts, dur);
    events_ += fmt::format("\n \"args\": {{{}}}}}", args);
  }
  void module(const std::string& name, double ts, double dur) {
    event("python_function", "nn.Module: " + name, 100, ts, dur, R"("Python id": 1, "Python module id": 0)");
  }
  void step(int number, double ts, double dur) {
    event("user_annotation", fmt::format("ProfilerStep#{}", number), 100, ts, dur, R"("External id": 1)");
  }
  /// A forward operator.
  void op(const std::string& name, double ts, double dur, int sequence) {
    event("cpu_op", name, 100, ts, dur,
          fmt::format(R"("External id": 5, "Sequence number": {}, "Fwd thread id": 0)", sequence));
  }
  /// An autograd node, as two ranges around each other.
  void node(const std::string& name, double ts, double dur, int sequence) {
    const std::string args = fmt::format(R"("Sequence number": {}, "Fwd thread id": 1)", sequence);
    event("cpu_op", "autograd::engine::evaluate_function: " + name, 101, ts, dur, args);
    event("cpu_op", name, 101, ts + 1, dur - 2, args);
  }
  void accumulate(double ts, double dur, const std::string& shape) {
    event("cpu_op", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 101, ts, dur, "");
    event("cpu_op", "torch::autograd::AccumulateGrad", 101, ts + 1, dur - 2,
          shape.empty() ? "" : fmt::format(R"("Input Dims": [{}])", shape));
  }
  /// A launch at `ts` and its kernel, which runs for `dur` at some later time.
  void kernel(int thread, double ts, double dur, const std::string& name = "gemm") {
    ++correlation_;
    event("cuda_runtime", "cudaLaunchKernel", thread, ts, 0.5,
          fmt::format(R"("cbid": 211, "correlation": {})", correlation_));
    event("kernel", name, 7, 5000 + ts, dur,
          fmt::format(R"("device": 0, "stream": 7, "correlation": {})", correlation_));
  }
  [[nodiscard]] std::string text() const {
    return R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Toy GPU"}],)"
           "\n\"traceEvents\": [\n" +
           events_ + "\n], \"traceName\": \"toy\"}\n";
  }

 private:
  std::string events_;
  int correlation_ = 0;
};

/// One step from `t` on. Net_0 calls Linear_0, adds something itself, and calls Linear_1; the loss is outside.
///   forward   Linear_0: 10, Net_0 itself: 2, Linear_1: 20, loss: 4
///   backward  loss: 3; Linear_1: 21 + 9 and 1 to add up; Net_0: 5; Linear_0: 11
/// Sequence numbers start at `s`. The view in Linear_1 has the same number as the multiplication after it, and the
/// addition of Net_0 the same number as the view that Linear_0 ends with and that makes no node.
void add_step(Profile& profile, double t, int s, double slower = 0) {
  profile.module("Net_0", t + 1, 100);
  profile.module("Linear_0", t + 10, 20);
  profile.op("aten::linear", t + 11, 15, s);
  profile.kernel(100, t + 12, 10 + slower);
  profile.op("aten::view", t + 28, 1, s + 1);
  profile.op("aten::add", t + 32, 5, s + 1);
  profile.kernel(100, t + 33, 2);
  profile.module("Linear_1", t + 40, 30);
  profile.op("aten::view", t + 41, 1, s + 2);
  profile.op("aten::addmm", t + 43, 20, s + 2);
  profile.kernel(100, t + 44, 20);
  profile.op("aten::mse_loss", t + 110, 5, s + 3);
  profile.kernel(100, t + 111, 4);

  profile.node("MseLossBackward0", t + 200, 10, s + 3);
  profile.kernel(101, t + 203, 3);
  profile.node("AddmmBackward0", t + 220, 20, s + 2);
  profile.kernel(101, t + 225, 21);
  profile.kernel(101, t + 226, 9);
  profile.accumulate(t + 245, 10, "[7]");
  profile.kernel(101, t + 248, 1);
  profile.accumulate(t + 256, 10, "[7, 3]");
  profile.kernel(101, t + 260, 50, "ncclDevKernel_AllReduce");
  profile.node("AddBackward0", t + 270, 10, s + 1);
  profile.kernel(101, t + 275, 5);
  profile.node("MmBackward0", t + 290, 10, s);
  profile.kernel(101, t + 295, 11);
  profile.accumulate(t + 300, 10, "[3, 5]");
  profile.kernel(100, t + 400, 6, "adam");  // the optimizer, on the forward thread
}

KinetoProfile parse(const std::string& text, const LayerReadOptions& options = {}) {
  TextSource source{text};
  return parse_kineto(source, "toy.pt.trace.json", options);
}

constexpr Time us(std::int64_t n) {
  return Time::microseconds(n);
}

}  // namespace

TEST_CASE("kineto: kernels belong to the layer that launched them or whose operator made the node") {
  Profile profile;
  profile.step(1, 0, 500);
  add_step(profile, 0, 40);
  const KinetoProfile read = parse(profile.text());
  CHECK(read.steps == 1);
  CHECK(read.model.device == "Toy GPU");
  CHECK(read.model.name == "toy");
  REQUIRE(read.model.layers.size() == 3);
  const TimedLayer& first = read.model.layers[0];
  const TimedLayer& block = read.model.layers[1];
  const TimedLayer& last = read.model.layers[2];
  CHECK(first.name == "Linear_0");
  CHECK(first.forward == us(10));
  CHECK(first.backward == us(11));
  REQUIRE(first.tensors.size() == 1);
  CHECK(first.tensors[0].shape == std::vector<std::int64_t>{3, 5});
  CHECK(block.name == "Net_0");
  CHECK(block.forward == us(2));
  CHECK(block.backward == us(5));
  CHECK(block.tensors.empty());
  CHECK(last.name == "Linear_1");
  CHECK(last.forward == us(20));
  CHECK(last.backward == us(21 + 9 + 1));
  // The bias arrives first, so it was declared last.
  REQUIRE(last.tensors.size() == 2);
  CHECK(last.tensors[0].elements == 21);
  CHECK(last.tensors[1].elements == 7);
  CHECK(read.outside == us(4 + 3 + 6));
  CHECK(read.communication == us(50));
}

TEST_CASE("kineto: steps are averaged, and what lies outside them does not count") {
  Profile profile;
  add_step(profile, 0, 40, 1000);  // before the first step: a warm-up
  profile.step(1, 1000, 500);
  add_step(profile, 1000, 50);
  profile.step(2, 2000, 500);
  add_step(profile, 2000, 60, 3.001);
  const KinetoProfile read = parse(profile.text());
  CHECK(read.steps == 2);
  // (10 + 13.001) / 2 = 11.5005 us, rounded up from half a nanosecond.
  CHECK(read.model.layers[0].forward == Time::nanoseconds(11'501));
  CHECK(read.model.layers[2].backward == us(31));
  CHECK(read.model.gradient_elements() == 15 + 28);
}

TEST_CASE("kineto: without steps, every layer was called once a step") {
  Profile profile;
  add_step(profile, 0, 40);
  add_step(profile, 1000, 50);
  add_step(profile, 2000, 60, 3);
  const KinetoProfile read = parse(profile.text());
  CHECK(read.steps == 3);
  CHECK(read.model.layers[0].forward == us(11));
  CHECK(read.model.gradient_elements() == 15 + 28);
}

TEST_CASE("kineto: layers that the user marked take the place of modules") {
  Profile profile;
  profile.event("user_annotation", "layer:embed", 100, 5, 28, "");
  profile.event("user_annotation", "layer:head", 100, 33, 60, "");
  add_step(profile, 0, 40);
  const KinetoProfile read = parse(profile.text());
  REQUIRE(read.model.layers.size() == 2);
  // The addition starts before `embed` ends, but its kernel is launched at 33, within `head`.
  CHECK(read.model.layers[0].name == "embed");
  CHECK(read.model.layers[0].forward == us(10));
  CHECK(read.model.layers[1].name == "head");
  CHECK(read.model.layers[1].forward == us(22));
  CHECK(read.model.layers[0].backward == us(11 + 5));
}

TEST_CASE("kineto: activations computed again in the backward pass are backward time") {
  Profile profile;
  profile.step(1, 0, 500);
  add_step(profile, 0, 40);
  // Within the node of Linear_1, Linear_0 runs again on the autograd thread.
  profile.event("python_function", "nn.Module: Linear_0", 101, 222, 6, "");
  profile.kernel(101, 223, 10);
  // 225 and 226 are within it as well, so 21 + 9 move from Linear_1 to it.
  const KinetoProfile read = parse(profile.text());
  CHECK(read.model.layers[0].forward == us(10));
  CHECK(read.model.layers[0].backward == us(11 + 10 + 21 + 9));
  CHECK(read.model.layers[2].backward == us(1));
}

TEST_CASE("kineto: the names of PyTorch before 1.12 are known") {
  Profile profile;
  add_step(profile, 0, 40);
  std::string text = profile.text();
  for (const auto& [now, before] :
       {std::pair{"\"cpu_op\"", "\"Operator\""}, std::pair{"\"cuda_runtime\"", "\"Runtime\""},
        std::pair{"\"kernel\"", "\"Kernel\""}})
    for (std::size_t at = 0; (at = text.find(now, at)) != std::string::npos;)
      text.replace(at, std::string{now}.size(), before);
  CHECK(parse(text).model.backward() == us(31 + 5 + 11));
  // Then there was no range of the engine around a node; adding up a gradient still belongs to the node before.
  for (std::size_t at = 0; (at = text.find("autograd::engine::evaluate_function: ", at)) != std::string::npos;)
    text.replace(at, 8, "renamed!");
  CHECK(parse(text).model.backward() == us(31 + 5 + 11));
}

TEST_CASE("kineto: what the recording lacks is named") {
  const auto complaints = [](const Profile& profile) { return layer_complaints(profile.text(), "toy.json"); };
  Profile empty;
  const std::string nothing = complaints(empty);
  check_says(nothing, "the profile names no layers; record with with_stack=True");
  check_says(nothing, "the profile has no GPU work; record with activities=[CPU, CUDA]");
  check_says(nothing, "the profile has no backward pass");

  Profile no_shapes;
  no_shapes.module("Linear_0", 0, 10);
  no_shapes.op("aten::linear", 1, 5, 3);
  no_shapes.kernel(100, 2, 10);
  no_shapes.node("AddmmBackward0", 20, 10, 3);
  no_shapes.kernel(101, 25, 10);
  no_shapes.accumulate(30, 5, "");
  check_says(complaints(no_shapes), "toy.json: the profile has no shapes of gradients; record with record_shapes=True");
  // With sizes from elsewhere it is enough.
  LayerTable sizes;
  sizes.layers.push_back({.name = "Linear_0",
                          .kind = LayerKind::linear,
                          .parameters = {{.name = "w", .elements = 6, .shape = {2, 3}}},
                          .geometry = {}});
  LayerReadOptions options;
  options.sizes = &sizes;
  CHECK(parse(no_shapes.text(), options).model.gradient_elements() == 6);

  Profile lost;
  add_step(lost, 0, 40);
  lost.node("MulBackward0", 440, 10, 77);  // of an operator outside all layers
  lost.accumulate(450, 5, "[2]");
  lost.accumulate(460, 5, "[2]");
  check_says(complaints(lost), "2 gradients belong to no layer; mark every layer that has parameters");

  Profile threads = no_shapes;
  threads.event("cpu_op", "MulBackward0", 102, 40, 10, R"("Sequence number": 3, "Fwd thread id": 2)");
  check_says(complaints(threads), "the forward pass ran in several threads");
}

TEST_CASE("kineto: damaged events are reported with their place") {
  const std::string text =
      "{\"schemaVersion\": 1, \"traceEvents\": [\n"
      "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"dur\": -1, \"args\": {\"correlation\": 1}},\n"
      "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"l\", \"dur\": 1, \"args\": {\"correlation\": 1}},\n"
      "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"dur\": 1, \"dur\": 2},\n"
      "7,\n"
      "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"torch::autograd::AccumulateGrad\", \"ts\": 1, \"dur\": 1,\n"
      " \"args\": {\"Input Dims\": [[3, 0]]}}\n"
      "]}";
  const std::string all = layer_complaints(text, "toy.json");
  check_says(all, "toy.json:2:50: traceEvents[0]: expected \"dur\" in microseconds >= 0, got -1");
  check_says(all, "toy.json:3:1: traceEvents[1]: expected a number \"ts\"");
  check_says(all, "toy.json:4:60: traceEvents[2]: \"dur\" appears twice, as 1 and 2");
  check_says(all, "toy.json:5:1: traceEvents[3]: expected an object, got a number");
  check_says(all, "toy.json:7:30: traceEvents[4].args.Input Dims: expected a whole number from 1 to");
}

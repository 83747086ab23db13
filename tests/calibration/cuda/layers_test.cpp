// Elementwise operators, normalisations, pooling, embedding and optimisers against plain loops.
#include "tests/calibration/cuda/prepared.hpp"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

using namespace contend;

namespace {

const std::string kTypes[] = {"fp32", "fp16", "bf16"};
/// Below a pack of 16 bytes, one more than some, and more than a grid has threads for at once.
const std::int64_t kSizes[] = {1, 7, 4097, 1'000'003};

std::size_t size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

/// Mean, and 1 / sqrt(variance + epsilon).
struct Moments {
  double mean = 0, inverse = 0;
};
Moments moments(const Values& values) {
  Moments m;
  const auto count = static_cast<double>(values.size());
  for (const double each : values) m.mean += each / count;
  double variance = 0;
  for (const double each : values) variance += (each - m.mean) * (each - m.mean) / count;
  m.inverse = 1 / std::sqrt(variance + 1e-5);
  return m;
}

}  // namespace

TEST_CASE("activation, sum and residual") {
  for (const std::int64_t n : kSizes) {
    for (const std::string& type : kTypes) {
      Prepared p("activation", type, {n});
      REQUIRE(p.supported());
      Values expected = p.read("x");
      for (double& each : expected) each = std::max(each, 0.0);
      p.poison("y");
      p.execute();
      CHECK(p.read("y") == expected);
    }
    for (const std::string name : {"sum", "add_residual"}) {
      for (const std::string& type : kTypes) {
        if (name == "add_residual" && type != "fp32") continue;
        Prepared p(name, type, {n});
        REQUIRE(p.supported());
        Values expected = p.read("a");
        const Values b = p.read("b");
        for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += b[i];
        p.poison("y");
        p.execute();
        check_close(p.read("y"), expected, tolerance_of(type));
      }
    }
  }
}

TEST_CASE("batch normalisation") {
  for (const Shape& shape : {Shape{3, 5, 7}, Shape{4, 70, 64}, Shape{2, 3, 20'000}, Shape{1, 1, 1'000}}) {
    const std::size_t batch = size(shape[0]), channels = size(shape[1]), positions = size(shape[2]);
    const auto place = [&](std::size_t n, std::size_t c, std::size_t i) { return (n * channels + c) * positions + i; };
    const auto count = static_cast<double>(batch * positions);
    for (const std::string& type : kTypes) {
      Prepared p("batch_norm", type, shape);
      REQUIRE(p.supported());
      const Values x = p.read("x"), gamma = p.read("gamma"), beta = p.read("beta");
      Values y(x.size()), mean(channels), deviation(channels);
      for (std::size_t c = 0; c < channels; ++c) {
        Values channel;
        for (std::size_t n = 0; n < batch; ++n)
          for (std::size_t i = 0; i < positions; ++i) channel.push_back(x[place(n, c, i)]);
        const Moments m = moments(channel);
        mean[c] = m.mean;
        deviation[c] = m.inverse;
        for (std::size_t n = 0; n < batch; ++n)
          for (std::size_t i = 0; i < positions; ++i)
            y[place(n, c, i)] = (x[place(n, c, i)] - m.mean) * m.inverse * gamma[c] + beta[c];
      }
      for (const char* each : {"y", "mean", "deviation"}) p.poison(each);
      p.execute();
      check_close(p.read("y"), y, tolerance_of(type));
      check_close(p.read("mean"), mean, 1e-3);
      check_close(p.read("deviation"), deviation, 1e-3);
    }
    for (const std::string& type : kTypes) {
      Prepared p("batch_norm_backward", type, shape);
      REQUIRE(p.supported());
      const Values x = p.read("x"), dy = p.read("dy"), gamma = p.read("gamma");
      const Values mean = p.read("mean"), deviation = p.read("deviation");
      Values dx(x.size()), dgamma(channels), dbeta(channels);
      for (std::size_t c = 0; c < channels; ++c) {
        const auto normal = [&](std::size_t at) { return (x[at] - mean[c]) * deviation[c]; };
        for (std::size_t n = 0; n < batch; ++n)
          for (std::size_t i = 0; i < positions; ++i) {
            dbeta[c] += dy[place(n, c, i)];
            dgamma[c] += dy[place(n, c, i)] * normal(place(n, c, i));
          }
        for (std::size_t n = 0; n < batch; ++n)
          for (std::size_t i = 0; i < positions; ++i) {
            const std::size_t at = place(n, c, i);
            dx[at] = gamma[c] * deviation[c] * (dy[at] - dbeta[c] / count - normal(at) * dgamma[c] / count);
          }
      }
      for (const char* each : {"dx", "dgamma", "dbeta"}) p.poison(each);
      p.execute();
      check_close(p.read("dx"), dx, tolerance_of(type));
      check_close(p.read("dgamma"), dgamma, 1e-3);
      check_close(p.read("dbeta"), dbeta, 1e-3);
    }
  }
}

TEST_CASE("layer normalisation") {
  for (const Shape& shape : {Shape{1, 1}, Shape{5, 37}, Shape{300, 768}, Shape{3, 5'000}, Shape{40'000, 4}}) {
    const std::size_t rows = size(shape[0]), width = size(shape[1]);
    const auto count = static_cast<double>(width);
    for (const std::string& type : kTypes) {
      Prepared p("layer_norm", type, shape);
      REQUIRE(p.supported());
      const Values x = p.read("x"), gamma = p.read("gamma"), beta = p.read("beta");
      Values y(x.size());
      for (std::size_t row = 0; row < rows; ++row) {
        const auto begin = x.begin() + static_cast<std::ptrdiff_t>(row * width);
        const Moments m = moments(Values(begin, begin + static_cast<std::ptrdiff_t>(width)));
        for (std::size_t i = 0; i < width; ++i) {
          y[row * width + i] = (x[row * width + i] - m.mean) * m.inverse * gamma[i] + beta[i];
        }
      }
      p.poison("y");
      p.execute();
      check_close(p.read("y"), y, tolerance_of(type));
    }
    for (const std::string& type : kTypes) {
      Prepared p("layer_norm_backward", type, shape);
      REQUIRE(p.supported());
      const Values x = p.read("x"), dy = p.read("dy"), gamma = p.read("gamma");
      const Values mean = p.read("mean"), deviation = p.read("deviation");
      Values dx(x.size()), dgamma(width), dbeta(width);
      for (std::size_t row = 0; row < rows; ++row) {
        double sum = 0, products = 0;
        const auto normal = [&](std::size_t i) { return (x[row * width + i] - mean[row]) * deviation[row]; };
        for (std::size_t i = 0; i < width; ++i) {
          const double gradient = dy[row * width + i];
          dgamma[i] += gradient * normal(i);
          dbeta[i] += gradient;
          sum += gradient * gamma[i] / count;
          products += gradient * gamma[i] * normal(i) / count;
        }
        for (std::size_t i = 0; i < width; ++i) {
          dx[row * width + i] = deviation[row] * (dy[row * width + i] * gamma[i] - sum - normal(i) * products);
        }
      }
      for (const char* each : {"dx", "dgamma", "dbeta"}) p.poison(each);
      p.execute();
      check_close(p.read("dx"), dx, tolerance_of(type));
      check_close(p.read("dgamma"), dgamma, 1e-3);
      check_close(p.read("dbeta"), dbeta, 1e-3);
    }
  }
}

TEST_CASE("sums of columns") {
  for (const Shape& shape : {Shape{1, 1}, Shape{5, 37}, Shape{300, 768}, Shape{3, 5'000}, Shape{40'000, 4}}) {
    const std::size_t width = size(shape[1]);
    for (const std::string& type : kTypes) {
      Prepared p("column_sum", type, shape);
      REQUIRE(p.supported());
      const Values x = p.read("x");
      Values sums(width);
      for (std::size_t i = 0; i < x.size(); ++i) sums[i % width] += x[i];
      p.poison("sums");
      p.execute();
      check_close(p.read("sums"), sums, 1e-4);
    }
  }
}

TEST_CASE("softmax") {
  for (const Shape& shape : {Shape{1, 1}, Shape{9, 33}, Shape{100, 512}, Shape{2, 50'001}, Shape{30'000, 3}}) {
    const std::size_t rows = size(shape[0]), width = size(shape[1]);
    for (const std::string& type : kTypes) {
      Prepared p("softmax", type, shape);
      REQUIRE(p.supported());
      const Values x = p.read("x");
      Values y(x.size());
      for (std::size_t row = 0; row < rows; ++row) {
        double total = 0;
        for (std::size_t i = 0; i < width; ++i) total += std::exp(x[row * width + i]);
        for (std::size_t i = 0; i < width; ++i) y[row * width + i] = std::exp(x[row * width + i]) / total;
      }
      p.poison("y");
      p.execute();
      check_close(p.read("y"), y, tolerance_of(type));
    }
    for (const std::string& type : kTypes) {
      Prepared p("softmax_backward", type, shape);
      REQUIRE(p.supported());
      const Values y = p.read("y"), dy = p.read("dy");
      Values dx(y.size());
      for (std::size_t row = 0; row < rows; ++row) {
        double sum = 0;
        for (std::size_t i = 0; i < width; ++i) sum += y[row * width + i] * dy[row * width + i];
        for (std::size_t i = 0; i < width; ++i) dx[row * width + i] = y[row * width + i] * (dy[row * width + i] - sum);
      }
      p.poison("dx");
      p.execute();
      check_close(p.read("dx"), dx, tolerance_of(type));
    }
  }
}

TEST_CASE("pooling") {
  // Windows that overlap, that tile, and that leave places out.
  for (const Shape& shape : {Shape{2, 3, 13, 11, 3, 2}, Shape{1, 5, 8, 8, 2, 2}, Shape{2, 2, 9, 10, 2, 3}}) {
    const std::size_t planes = size(shape[0] * shape[1]), height = size(shape[2]), width = size(shape[3]);
    const std::size_t window = size(shape[4]), stride = size(shape[5]);
    const std::size_t out_height = (height - window) / stride + 1, out_width = (width - window) / stride + 1;
    for (const std::string& type : kTypes) {
      Prepared p("pooling", type, shape), back("pooling_backward", type, shape);
      REQUIRE(p.supported());
      REQUIRE(back.supported());
      const Values x = p.read("x"), dy = back.read("dy");
      Values y(planes * out_height * out_width), places(y.size()), dx(x.size());
      for (std::size_t out = 0; out < y.size(); ++out) {
        const std::size_t plane = out / (out_height * out_width);
        const std::size_t row = out / out_width % out_height * stride, column = out % out_width * stride;
        const auto in = [&](std::size_t at) {
          return (plane * height + row + at / window) * width + column + at % window;
        };
        std::size_t best = 0;
        for (std::size_t at = 1; at < window * window; ++at) {
          if (x[in(at)] > x[in(best)]) best = at;
        }
        y[out] = x[in(best)];
        places[out] = static_cast<double>(best);
        dx[in(best)] += dy[out];
      }
      p.poison("y");
      p.poison("places");
      p.execute();
      CHECK(p.read("y") == y);
      CHECK(p.read("places") == places);
      back.write("places", places);
      back.poison("dx");
      back.execute();
      check_close(back.read("dx"), dx, tolerance_of(type));
    }
  }
}

TEST_CASE("embedding") {
  for (const Shape& shape : {Shape{50, 24, 77}, Shape{10, 7, 300}, Shape{1'000, 768, 33}}) {
    const std::size_t width = size(shape[1]), tokens = size(shape[2]);
    for (const std::string& type : kTypes) {
      Prepared p("embedding", type, shape), back("embedding_backward", type, shape);
      REQUIRE(p.supported());
      REQUIRE(back.supported());
      const Values table = p.read("table"), ids = p.read("ids"), dy = back.read("dy"), back_ids = back.read("ids");
      Values y(tokens * width), sums(size(shape[0]) * width);
      for (std::size_t token = 0; token < tokens; ++token) {
        REQUIRE(ids[token] >= 0);
        REQUIRE(ids[token] < static_cast<double>(shape[0]));
        for (std::size_t i = 0; i < width; ++i) {
          y[token * width + i] = table[static_cast<std::size_t>(ids[token]) * width + i];
          sums[static_cast<std::size_t>(back_ids[token]) * width + i] += dy[token * width + i];
        }
      }
      p.poison("y");
      p.execute();
      CHECK(p.read("y") == y);
      back.write("table", Values(sums.size()));
      back.execute();
      check_close(back.read("table"), sums, 1e-4);
    }
  }
}

TEST_CASE("optimisers") {
  for (const std::int64_t n : kSizes) {
    {
      Prepared p("sgd_fused", "fp32", {n});
      REQUIRE(p.supported());
      Values weights = p.read("p"), velocity = p.read("v");
      const Values g = p.read("g");
      for (std::size_t i = 0; i < g.size(); ++i) {
        velocity[i] = 0.9 * velocity[i] + g[i];
        weights[i] -= 0.01 * velocity[i];
      }
      p.execute();
      check_close(p.read("v"), velocity, 1e-5);
      check_close(p.read("p"), weights, 1e-5);
    }
    {
      Prepared p("adam_fused", "fp32", {n});
      REQUIRE(p.supported());
      Values weights = p.read("p"), m = p.read("m"), v = p.read("v");
      const Values g = p.read("g"), before = weights;
      const double step = 0.001 / (1 - std::pow(0.9, 10)), root = std::sqrt(1 - std::pow(0.999, 10));
      Values change(g.size());
      for (std::size_t i = 0; i < g.size(); ++i) {
        m[i] = 0.9 * m[i] + 0.1 * g[i];
        v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
        weights[i] -= step * m[i] / (std::sqrt(v[i]) / root + 1e-8);
      }
      p.execute();
      check_close(p.read("m"), m, 1e-4);
      check_close(p.read("v"), v, 1e-4);
      const Values after = p.read("p");
      Values found(g.size());
      for (std::size_t i = 0; i < g.size(); ++i) {
        change[i] = weights[i] - before[i];
        found[i] = after[i] - before[i];
      }
      check_close(found, change, 1e-3);  // fp32 weights near 1 round steps of 0.001
    }
  }
}

// Products, convolutions, attention and Power-SGD's factors against plain loops.
#include "tests/calibration/cuda/prepared.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace contend;

namespace {

std::size_t size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

void check_gemm(const std::string& name, const std::string& type, const Shape& shape) {
  Prepared p(name, type, shape);
  if (!p.supported()) return;
  const std::size_t batch = size(shape[0]), m = size(shape[1]), n = size(shape[2]), k = size(shape[3]);
  const bool b_by_k = name == "gemm", a_by_m = name == "gemm_tn";
  const Values a = p.read("a"), b = p.read("b");
  Values expected(batch * m * n);
  for (std::size_t s = 0; s < batch; ++s) {
    for (std::size_t column = 0; column < n; ++column) {
      for (std::size_t row = 0; row < m; ++row) {
        double sum = 0;
        for (std::size_t i = 0; i < k; ++i)
          sum += a[s * m * k + (a_by_m ? i * m + row : row * k + i)] *
                 b[s * n * k + (b_by_k ? column * k + i : i * n + column)];
        expected[(s * m + row) * n + column] = sum;
      }
    }
  }
  p.poison("d");
  p.execute();
  check_close(p.read("d"), expected, tolerance_of(type));
}

/// Indices of a convolution's tensors: channels after the batch, or last.
struct Convolution {
  std::size_t batch, in, height, width, out, kernel_height, kernel_width, stride, pad_height, pad_width;
  std::size_t out_height, out_width;
  bool channels_last;

  [[nodiscard]] std::size_t x(std::size_t n, std::size_t c, std::size_t h, std::size_t w) const {
    return channels_last ? ((n * height + h) * width + w) * in + c : ((n * in + c) * height + h) * width + w;
  }
  [[nodiscard]] std::size_t y(std::size_t n, std::size_t c, std::size_t h, std::size_t w) const {
    return channels_last ? ((n * out_height + h) * out_width + w) * out + c
                         : ((n * out + c) * out_height + h) * out_width + w;
  }
  [[nodiscard]] std::size_t w(std::size_t k, std::size_t c, std::size_t h, std::size_t w) const {
    return channels_last ? ((k * kernel_height + h) * kernel_width + w) * in + c
                         : ((k * in + c) * kernel_height + h) * kernel_width + w;
  }
};

Convolution read_convolution(const Shape& s, bool channels_last) {
  return {size(s[0]),
          size(s[1]),
          size(s[2]),
          size(s[3]),
          size(s[4]),
          size(s[5]),
          size(s[6]),
          size(s[7]),
          size(s[8]),
          size(s[9]),
          size((s[2] + 2 * s[8] - s[5]) / s[7] + 1),
          size((s[3] + 2 * s[9] - s[6]) / s[7] + 1),
          channels_last};
}

/// f(index in x, index in w, index in y) for every multiply-add.
template <class F>
void each_product(const Convolution& c, F f) {
  for (std::size_t n = 0; n < c.batch; ++n)
    for (std::size_t k = 0; k < c.out; ++k)
      for (std::size_t row = 0; row < c.out_height; ++row)
        for (std::size_t column = 0; column < c.out_width; ++column)
          for (std::size_t i = 0; i < c.in; ++i)
            for (std::size_t kh = 0; kh < c.kernel_height; ++kh)
              for (std::size_t kw = 0; kw < c.kernel_width; ++kw) {
                const std::size_t h = row * c.stride + kh, w = column * c.stride + kw;
                if (h < c.pad_height || w < c.pad_width) continue;
                if (h - c.pad_height >= c.height || w - c.pad_width >= c.width) continue;
                f(c.x(n, i, h - c.pad_height, w - c.pad_width), c.w(k, i, kh, kw), c.y(n, k, row, column));
              }
}

void check_convolution(const std::string& type, const Shape& shape) {
  const Convolution c = read_convolution(shape, type == "fp16" || type == "bf16");
  for (const std::string name : {"convolution", "convolution_input_gradient", "convolution_weight_gradient"}) {
    Prepared p(name, type, shape);
    if (!p.supported()) continue;
    const std::string result = name == "convolution" ? "y" : name == "convolution_input_gradient" ? "x" : "w";
    const Values x = p.read("x"), w = p.read("w"), y = p.read("y");
    Values expected(p.read(result).size());
    each_product(c, [&](std::size_t i, std::size_t j, std::size_t k) {
      if (result == "y") expected[k] += x[i] * w[j];
      if (result == "x") expected[i] += y[k] * w[j];
      if (result == "w") expected[j] += x[i] * y[k];
    });
    p.poison(result);
    p.execute();
    INFO(name << " " << type);
    check_close(p.read(result), expected, type == "fp32" ? 1e-3 : tolerance_of(type));
  }
}

struct Attention {
  std::size_t heads, group, sequence, size;  ///< `group` heads share keys and values
  bool causal;
  Values q, k, v, d_o;
  Values o, lse, dq, dk, dv;
};

/// Scores in full: softmax(Q K^T / sqrt(size)) V and its gradients, with a mask if it is causal.
void attend(Attention& a) {
  const std::size_t elements = a.heads * a.sequence * a.size;
  a.o.assign(elements, 0);
  a.dq = a.o;
  a.dk.assign(elements / a.group, 0);
  a.dv = a.dk;
  a.lse.assign(a.heads * a.sequence, 0);
  const double scale = 1 / std::sqrt(static_cast<double>(a.size));
  for (std::size_t row = 0; row < a.heads * a.sequence; ++row) {
    const std::size_t first = row / a.sequence / a.group * a.sequence;
    const std::size_t seen = a.causal ? row % a.sequence + 1 : a.sequence;
    Values weights(seen);
    double total = 0, delta = 0;
    for (std::size_t j = 0; j < seen; ++j) {
      double score = 0;
      for (std::size_t i = 0; i < a.size; ++i) score += a.q[row * a.size + i] * a.k[(first + j) * a.size + i];
      weights[j] = std::exp(score * scale);
      total += weights[j];
    }
    a.lse[row] = std::log(total);
    for (std::size_t j = 0; j < seen; ++j) {
      weights[j] /= total;
      for (std::size_t i = 0; i < a.size; ++i) a.o[row * a.size + i] += weights[j] * a.v[(first + j) * a.size + i];
    }
    if (a.d_o.empty()) continue;
    for (std::size_t i = 0; i < a.size; ++i) delta += a.d_o[row * a.size + i] * a.o[row * a.size + i];
    for (std::size_t j = 0; j < seen; ++j) {
      double product = 0;
      for (std::size_t i = 0; i < a.size; ++i) product += a.d_o[row * a.size + i] * a.v[(first + j) * a.size + i];
      const double gradient = weights[j] * (product - delta) * scale;
      for (std::size_t i = 0; i < a.size; ++i) {
        a.dq[row * a.size + i] += gradient * a.k[(first + j) * a.size + i];
        a.dk[(first + j) * a.size + i] += gradient * a.q[row * a.size + i];
        a.dv[(first + j) * a.size + i] += weights[j] * a.d_o[row * a.size + i];
      }
    }
  }
}

void check_attention(const std::string& type, const Shape& shape, bool causal) {
  INFO(type << ", sequence " << shape[3] << ", head " << shape[4] << (causal ? ", causal" : ""));
  const std::string name = causal ? "causal_attention" : "attention";
  Attention a{size(shape[0] * shape[1]),
              size(shape[1] / shape[2]),
              size(shape[3]),
              size(shape[4]),
              causal,
              {},
              {},
              {},
              {},
              {},
              {},
              {},
              {},
              {}};
  {
    Prepared p(name, type, shape);
    if (!p.supported()) return;
    a.q = p.read("q");
    a.k = p.read("k");
    a.v = p.read("v");
    attend(a);
    p.poison("o");
    p.poison("lse");
    p.execute();
    check_close(p.read("o"), a.o, 2 * tolerance_of(type));
    check_close(p.read("lse"), a.lse, 2 * tolerance_of(type));
  }
  Prepared p(name + "_backward", type, shape);
  REQUIRE(p.supported());
  a.q = p.read("q");
  a.k = p.read("k");
  a.v = p.read("v");
  a.d_o = p.read("do");
  attend(a);
  for (const char* each : {"dq", "dk", "dv"}) p.poison(each);
  p.execute();
  // Weights and gradients of scores are rounded between the products.
  check_close(p.read("dq"), a.dq, 4 * tolerance_of(type));
  check_close(p.read("dk"), a.dk, 4 * tolerance_of(type));
  check_close(p.read("dv"), a.dv, 4 * tolerance_of(type));
}

}  // namespace

TEST_CASE("matrix products") {
  for (const std::string type : {"fp32", "tf32", "fp16", "bf16", "fp8"}) {
    for (const std::string name : {"gemm", "gemm_nn", "gemm_tn"}) {
      if (type == "fp8" && name != "gemm") continue;
      check_gemm(name, type, {1, 64, 48, 80});
      check_gemm(name, type, {3, 32, 16, 48});
      check_gemm(name, type, {2, 17, 33, 29});
    }
  }
}

TEST_CASE("convolutions and their gradients") {
  for (const std::string type : {"fp32", "tf32", "fp16", "bf16"}) {
    check_convolution(type, {2, 8, 11, 9, 16, 3, 3, 1, 1, 1});
    check_convolution(type, {2, 16, 12, 12, 8, 1, 1, 1, 0, 0});
    check_convolution(type, {1, 8, 13, 10, 8, 5, 3, 2, 2, 1});
    check_convolution(type, {2, 3, 15, 15, 5, 3, 3, 2, 1, 1});
  }
}

TEST_CASE("products and convolutions of fp32 numbers keep all of their digits") {
  // 1 + 2^-12 is 1 in tf32, so sums would be too small by a share of 2.4e-4. Shapes that tensor cores like.
  const double fine = 1 + std::pow(2.0, -12);
  const auto fill = [](Prepared& p, const std::string& tensor, double value) {
    p.write(tensor, Values(p.read(tensor).size(), value));
  };
  Prepared product("gemm", "fp32", {1, 256, 256, 256});
  REQUIRE(product.supported());
  fill(product, "a", fine);
  fill(product, "b", 1);
  product.execute();
  check_close(product.read("d"), Values(256 * 256, 256 * fine), 5e-5);

  const Shape shape{2, 64, 14, 14, 64, 3, 3, 1, 1, 1};
  const Convolution c = read_convolution(shape, false);
  for (const std::string name : {"convolution", "convolution_input_gradient", "convolution_weight_gradient"}) {
    Prepared p(name, "fp32", shape);
    if (!p.supported()) continue;
    const std::string result = name == "convolution" ? "y" : name == "convolution_input_gradient" ? "x" : "w";
    for (const std::string each : {"x", "w", "y"}) fill(p, each, each == (result == "x" ? "y" : "x") ? fine : 1);
    p.execute();
    Values expected(p.read(result).size());
    each_product(c, [&](std::size_t i, std::size_t j, std::size_t k) {
      expected[result == "y" ? k : result == "x" ? i : j] += fine;
    });
    INFO(name);
    check_close(p.read(result), expected, 5e-5);
  }
}

TEST_CASE("attention and its gradients") {
  for (const std::string type : {"fp32", "fp16", "bf16"}) {
    for (const bool causal : {false, true}) {
      check_attention(type, {2, 3, 3, 77, 40}, causal);
      check_attention(type, {1, 2, 2, 130, 64}, causal);
      check_attention(type, {1, 1, 1, 65, 128}, causal);
      check_attention(type, {1, 2, 2, 50, 83}, causal);
      check_attention(type, {3, 1, 1, 2, 8}, causal);
      check_attention(type, {2, 4, 2, 131, 64}, causal);
      check_attention(type, {1, 6, 1, 70, 32}, causal);
    }
  }
}

TEST_CASE("Power-SGD's products") {
  for (const Shape& shape : {Shape{37, 53, 4}, Shape{64, 128, 32}, Shape{129, 7, 1}}) {
    const std::size_t rows = size(shape[0]), columns = size(shape[1]), rank = size(shape[2]);
    Prepared p("low_rank_p", "fp32", shape);
    REQUIRE(p.supported());
    const Values m = p.read("m"), q = p.read("q");
    Values product(rows * rank);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t r = 0; r < rank; ++r)
        for (std::size_t j = 0; j < columns; ++j) product[i * rank + r] += m[i * columns + j] * q[j * rank + r];
    p.poison("p");
    p.execute();
    check_close(p.read("p"), product, 1e-4);

    Prepared t("low_rank_q", "fp32", shape);
    REQUIRE(t.supported());
    const Values m2 = t.read("m"), p2 = t.read("p");
    product.assign(columns * rank, 0);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t r = 0; r < rank; ++r)
        for (std::size_t j = 0; j < columns; ++j) product[j * rank + r] += m2[i * columns + j] * p2[i * rank + r];
    t.poison("q");
    t.execute();
    check_close(t.read("q"), product, 1e-4);
  }
}

TEST_CASE("orthogonal columns span what the columns spanned") {
  for (const Shape& shape : {Shape{50, 1}, Shape{1000, 4}, Shape{333, 20}, Shape{2048, 40}}) {
    const std::size_t rows = size(shape[0]), rank = size(shape[1]);
    Prepared p("orthogonalize", "fp32", shape);
    REQUIRE(p.supported());
    Values matrix(rows * rank);  // what prepare left is orthogonal already
    for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = std::sin(1 + 1.7 * static_cast<double>(i * i % 9973));
    p.write("p", matrix);
    p.execute();
    // Modified Gram-Schmidt, column by column.
    Values expected = matrix;
    for (std::size_t c = 0; c < rank; ++c) {
      double square = 0;
      for (std::size_t i = 0; i < rows; ++i) square += expected[i * rank + c] * expected[i * rank + c];
      for (std::size_t i = 0; i < rows; ++i) expected[i * rank + c] /= std::sqrt(square);
      for (std::size_t later = c + 1; later < rank; ++later) {
        double along = 0;
        for (std::size_t i = 0; i < rows; ++i) along += expected[i * rank + c] * expected[i * rank + later];
        for (std::size_t i = 0; i < rows; ++i) expected[i * rank + later] -= along * expected[i * rank + c];
      }
    }
    check_close(p.read("p"), expected, 1e-3);
  }
}

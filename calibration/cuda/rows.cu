// Measures operators on rows by our own kernels (row_kernels.cuh), with sums in fp32.
//
//   layer_norm, rms_norm     `y` from `x`, `gamma` and, of a layer normalisation, `beta`; writes the inverse
//   `deviation`
//                            of each row and, of a layer normalisation, its `mean`.
//   ..._backward             `dx`, then `dgamma` and `dbeta` by columns, which reads both tensors a second time.
//   column_sum               `sums` of all rows of `x`, set to zero before; blocks add the sums of their rows.
//   softmax                  `y` from `x`: largest value, sum of exponentials, quotient.
//   softmax_backward         `dx` = y (dy - sum of y dy).
//   cross_entropy            `loss` of each row of logits `x` with its class in `labels`, and its gradient `dx`.
#include "calibration/cuda/kernels.cuh"
#include "calibration/cuda/row_kernels.cuh"

namespace contend::cuda {

namespace {

/// How rows are divided among threads.
template <int Size, bool Warp>
struct Rows {
  Rows(const Session& session, const Request& request)
      : rows(request.shape[0]),
        width(request.shape[1]),
        elements(elements_of({rows, width})),
        blocks(blocks_for(rows, Warp ? kThreads / 32 : 1, 4 * full(session))) {
    // A block has as many threads as have something to load, in whole warps.
    threads =
        Warp ? kThreads : static_cast<unsigned>(std::clamp<std::int64_t>((width / Size + 31) / 32 * 32, 32, kThreads));
  }
  std::int64_t rows, width, elements;
  unsigned blocks, threads = kThreads;
};

/// Calls make(Tag<T>{}, Size, Warp) with the number's type, with how many of them a thread loads at once, and whether a
/// warp takes a row.
template <class Make>
Operation by_row(const Request& request, Make make) {
  return by_type(request, [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int kSize = Pack<T>::kSize;
    const std::int64_t width = request.shape[1];
    if (width % kSize != 0) return make(tag, std::integral_constant<int, 1>{}, std::false_type{});
    if (width > kWarpWidth) return make(tag, std::integral_constant<int, kSize>{}, std::false_type{});
    return make(tag, std::integral_constant<int, kSize>{}, std::true_type{});
  });
}

template <bool Centred>
Operation norm(Session& session, const Request& request) {
  return by_row(request, [&](auto tag, auto size, auto warp) {
    using T = typename decltype(tag)::type;
    constexpr int kSize = decltype(size)::value;
    constexpr bool kWarp = decltype(warp)::value;
    const Rows<kSize, kWarp> r(session, request);
    Operation operation;
    const T* const x = operation.tensor<T>("x", r.elements, Fill::normal);
    T* const y = operation.tensor<T>("y", r.elements);
    const float* const gamma = operation.tensor<float>("gamma", r.width, Fill::normal);
    const float* const beta = Centred ? operation.tensor<float>("beta", r.width, Fill::normal) : nullptr;
    float* const mean = Centred ? operation.tensor<float>("mean", r.rows) : nullptr;
    float* const deviation = operation.tensor<float>("deviation", r.rows);
    operation.execute = [=](cudaStream_t stream) {
      norm_rows<T, kSize, kWarp, Centred>
          <<<r.blocks, r.threads, 0, stream>>>(r.rows, r.width, x, y, gamma, beta, mean, deviation);
    };
    return operation;
  });
}

template <bool Centred>
Operation norm_backward(Session& session, const Request& request) {
  return by_row(request, [&](auto tag, auto size, auto warp) {
    using T = typename decltype(tag)::type;
    constexpr int kSize = decltype(size)::value;
    constexpr bool kWarp = decltype(warp)::value;
    const Rows<kSize, kWarp> r(session, request);
    const std::int64_t columns = (r.width + 31) / 32;
    // There are enough shares of rows to fill the device, of at least 64 rows each.
    const std::int64_t shares =
        std::max<std::int64_t>(1, std::min({full(session) / columns, (r.rows + 63) / 64, std::int64_t{1024}}));
    const std::int64_t share = (r.rows + shares - 1) / shares;
    const dim3 grid(static_cast<unsigned>(columns), static_cast<unsigned>(shares));
    Operation operation;
    const T* const x = operation.tensor<T>("x", r.elements, Fill::normal);
    const T* const dy = operation.tensor<T>("dy", r.elements, Fill::normal);
    T* const dx = operation.tensor<T>("dx", r.elements);
    const float* const gamma = operation.tensor<float>("gamma", r.width, Fill::normal);
    const float* const mean = Centred ? operation.tensor<float>("mean", r.rows, Fill::normal, 0.1F) : nullptr;
    const float* const deviation = operation.tensor<float>("deviation", r.rows, Fill::normal);
    float* const dgamma = operation.tensor<float>("dgamma", r.width);
    float* const dbeta = Centred ? operation.tensor<float>("dbeta", r.width) : nullptr;
    const auto bytes = static_cast<size_t>(r.width) * sizeof(float);
    operation.execute = [=](cudaStream_t stream) {
      norm_gradients<T, kSize, kWarp, Centred>
          <<<r.blocks, r.threads, 0, stream>>>(r.rows, r.width, x, dy, dx, gamma, mean, deviation);
      check(cudaMemsetAsync(dgamma, 0, bytes, stream), "clearing");
      if (Centred) check(cudaMemsetAsync(dbeta, 0, bytes, stream), "clearing");
      norm_weight_gradients<T, Centred>
          <<<grid, dim3(32, 8), 0, stream>>>(r.rows, r.width, share, x, dy, mean, deviation, dgamma, dbeta);
    };
    operation.kernels = 4;
    return operation;
  });
}

Operation column_sum(Session& session, const Request& request) {
  return by_type(request, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::int64_t rows = request.shape[0], width = request.shape[1];
    const auto make = [&](auto size) {
      constexpr int kSize = decltype(size)::value;
      const std::int64_t columns = (width + 32 * kSize - 1) / (32 * kSize);
      // There are enough shares of rows to fill the device, of at least 32 rows each.
      const std::int64_t shares =
          std::max<std::int64_t>(1, std::min({full(session) / columns, (rows + 31) / 32, std::int64_t{1024}}));
      const std::int64_t share = (rows + shares - 1) / shares;
      const dim3 grid(static_cast<unsigned>(columns), static_cast<unsigned>(shares));
      Operation operation;
      const T* const x = operation.tensor<T>("x", elements_of({rows, width}), Fill::normal);
      float* const sums = operation.tensor<float>("sums", width);
      operation.execute = [=](cudaStream_t stream) {
        check(cudaMemsetAsync(sums, 0, static_cast<size_t>(width) * sizeof(float), stream), "clearing");
        sum_columns<T, kSize><<<grid, dim3(32, 8), 0, stream>>>(rows, width, share, x, sums);
      };
      operation.kernels = 2;
      return operation;
    };
    constexpr int kSize = Pack<T>::kSize;
    return width % kSize == 0 ? make(std::integral_constant<int, kSize>{}) : make(std::integral_constant<int, 1>{});
  });
}

Operation softmax(Session& session, const Request& request) {
  return by_row(request, [&](auto tag, auto size, auto warp) {
    using T = typename decltype(tag)::type;
    constexpr int kSize = decltype(size)::value;
    constexpr bool kWarp = decltype(warp)::value;
    const Rows<kSize, kWarp> r(session, request);
    Operation operation;
    const T* const x = operation.tensor<T>("x", r.elements, Fill::normal);
    T* const y = operation.tensor<T>("y", r.elements);
    operation.execute = [=](cudaStream_t stream) {
      softmax_rows<T, kSize, kWarp><<<r.blocks, r.threads, 0, stream>>>(r.rows, r.width, x, y);
    };
    return operation;
  });
}

Operation softmax_backward(Session& session, const Request& request) {
  return by_row(request, [&](auto tag, auto size, auto warp) {
    using T = typename decltype(tag)::type;
    constexpr int kSize = decltype(size)::value;
    constexpr bool kWarp = decltype(warp)::value;
    const Rows<kSize, kWarp> r(session, request);
    Operation operation;
    const T* const y = operation.tensor<T>("y", r.elements, Fill::normal);
    const T* const dy = operation.tensor<T>("dy", r.elements, Fill::normal);
    T* const dx = operation.tensor<T>("dx", r.elements);
    operation.execute = [=](cudaStream_t stream) {
      softmax_gradients<T, kSize, kWarp><<<r.blocks, r.threads, 0, stream>>>(r.rows, r.width, y, dy, dx);
    };
    return operation;
  });
}

Operation cross_entropy(Session& session, const Request& request) {
  return by_type(request, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto make = [&](auto size) {
      constexpr int kSize = decltype(size)::value;
      const Rows<kSize, false> r(session, request);
      Operation operation;
      const T* const x = operation.tensor<T>("x", r.elements, Fill::normal);
      T* const dx = operation.tensor<T>("dx", r.elements);
      const std::int64_t* const labels = operation.indices("labels", r.rows, r.width);
      float* const loss = operation.tensor<float>("loss", r.rows);
      operation.execute = [=](cudaStream_t stream) {
        cross_entropy_rows<T, kSize><<<r.blocks, r.threads, 0, stream>>>(r.rows, r.width, x, labels, dx, loss);
      };
      return operation;
    };
    constexpr int kSize = Pack<T>::kSize;
    return request.shape[1] % kSize == 0 ? make(std::integral_constant<int, kSize>{})
                                         : make(std::integral_constant<int, 1>{});
  });
}

}  // namespace

Entries row_operators() {
  return {{"layer_norm", 2, norm<true>},
          {"layer_norm_backward", 2, norm_backward<true>},
          {"rms_norm", 2, norm<false>},
          {"rms_norm_backward", 2, norm_backward<false>},
          {"column_sum", 2, column_sum},
          {"softmax", 2, softmax},
          {"softmax_backward", 2, softmax_backward},
          {"cross_entropy", 2, cross_entropy}};
}

}  // namespace contend::cuda

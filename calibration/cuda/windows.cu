// Measures pooling and embedding, by our own kernels.
//
//   pooling               `y` and `places` from `x` as N C H W: the largest value of each window without padding, and
//                         where in its window it lies (a byte, so windows of up to 15). A thread an output.
//   pooling_backward      `dx` from `dy` and `places`: a thread an input, which looks at the windows that it lies in.
//   embedding             the rows of `table` that the numbers `ids` index, into `y`; half a warp or more a row.
//   embedding_backward    `table` set to zero, as frameworks do with this gradient in every step, then rows of `dy`
//   added
//                         into it; it is fp32 whatever dy is, as gradients of weights are. Atomic, since tokens recur.
//                         Rows are drawn evenly; real text hits some rows more often.
#include "calibration/cuda/kernels.cuh"

namespace contend::cuda {

namespace {

struct Windows {
  std::int64_t planes;  ///< batch x channels
  int height, width, window, stride, out_height, out_width;
  __host__ __device__ std::int64_t inputs() const { return planes * height * width; }
  __host__ __device__ std::int64_t outputs() const { return planes * out_height * out_width; }
};

/// A place in a tensor of planes. Divisions have 32 bits, because a plane has less than 2^31 values.
struct Place {
  std::int64_t plane;
  int row, column;
};
__device__ Place place_of(std::int64_t i, int height, int width) {
  const int size = height * width;
  const std::int64_t plane = i / size;
  const int rest = static_cast<int>(i - plane * size);
  return {plane, rest / width, rest % width};
}

template <class T>
__global__ void __launch_bounds__(kThreads) pool(Windows w, const T* x, T* y, std::uint8_t* places) {
  for (std::int64_t i = thread_index(); i < w.outputs(); i += thread_count()) {
    const Place out = place_of(i, w.out_height, w.out_width);
    const T* const first = x + (out.plane * w.height + out.row * w.stride) * w.width + out.column * w.stride;
    float most = Largest::kNeutral;
    int where = 0;
    for (int row = 0; row < w.window; ++row) {
      for (int column = 0; column < w.window; ++column) {
        const float value = to_float(first[static_cast<std::int64_t>(row) * w.width + column]);
        if (value > most) {
          most = value;
          where = row * w.window + column;
        }
      }
    }
    y[i] = from_float<T>(most);
    places[i] = static_cast<std::uint8_t>(where);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) pool_gradients(Windows w, const T* dy, const std::uint8_t* places, T* dx) {
  for (std::int64_t i = thread_index(); i < w.inputs(); i += thread_count()) {
    const Place in = place_of(i, w.height, w.width);
    // These are the windows that begin at or before this place and reach it.
    const int first_row = in.row < w.window ? 0 : (in.row - w.window) / w.stride + 1;
    const int first_column = in.column < w.window ? 0 : (in.column - w.window) / w.stride + 1;
    const int last_row = min(in.row / w.stride, w.out_height - 1);
    const int last_column = min(in.column / w.stride, w.out_width - 1);
    float sum = 0;
    for (int row = first_row; row <= last_row; ++row) {
      for (int column = first_column; column <= last_column; ++column) {
        const std::int64_t out = (in.plane * w.out_height + row) * w.out_width + column;
        const int where = (in.row - row * w.stride) * w.window + in.column - column * w.stride;
        if (places[out] == where) sum += to_float(dy[out]);
      }
    }
    dx[i] = from_float<T>(sum);
  }
}

template <class T, int Size>
__global__ void look_up(std::int64_t tokens, std::int64_t groups, const std::int64_t* ids, const Group<T, Size>* table,
                        Group<T, Size>* y) {
  for (std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y; token < tokens;
       token += static_cast<std::int64_t>(gridDim.x) * blockDim.y) {
    const std::int64_t row = ids[token];
    for (std::int64_t i = threadIdx.x; i < groups; i += blockDim.x) y[token * groups + i] = table[row * groups + i];
  }
}

template <class T>
__global__ void add_rows(std::int64_t tokens, std::int64_t width, const std::int64_t* ids, const T* dy, float* table) {
  for (std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y; token < tokens;
       token += static_cast<std::int64_t>(gridDim.x) * blockDim.y) {
    const std::int64_t row = ids[token];
    for (std::int64_t i = threadIdx.x; i < width; i += blockDim.x) {
      atomicAdd(table + row * width + i, to_float(dy[token * width + i]));
    }
  }
}

Windows read_windows(const Request& request) {
  const auto& s = request.shape;
  if (s[4] > 15) fail(CONTEND_UNSUPPORTED, "windows are measured up to 15 x 15");
  if (s[4] > s[2] || s[4] > s[3]) fail(CONTEND_UNSUPPORTED, "the window is larger than the input");
  if (s[2] > 32768 || s[3] > 32768 || s[5] > 32768) fail(CONTEND_UNSUPPORTED, "sides are measured up to 32768");
  const auto at = [&](size_t i) { return static_cast<int>(s[i]); };
  return {elements_of({s[0], s[1]}),  at(2), at(3), at(4), at(5), (at(2) - at(4)) / at(5) + 1,
          (at(3) - at(4)) / at(5) + 1};
}

Operation pooling(Session& session, const Request& request) {
  const Windows w = read_windows(request);
  const std::int64_t in = elements_of({w.planes, w.height, w.width});
  const unsigned blocks = blocks_for(w.outputs(), kThreads, 4 * full(session));
  return by_type(request, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Operation operation;
    const T* const x = operation.tensor<T>("x", in, Fill::normal);
    T* const y = operation.tensor<T>("y", w.outputs());
    auto* const places = operation.tensor<std::uint8_t>("places", w.outputs());
    operation.execute = [=](cudaStream_t stream) { pool<<<blocks, kThreads, 0, stream>>>(w, x, y, places); };
    return operation;
  });
}

Operation pooling_backward(Session& session, const Request& request) {
  const Windows w = read_windows(request);
  const std::int64_t in = elements_of({w.planes, w.height, w.width});
  const unsigned blocks = blocks_for(in, kThreads, 4 * full(session));
  return by_type(request, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Operation operation;
    const T* const dy = operation.tensor<T>("dy", w.outputs(), Fill::normal);
    // The places are 0: the largest value of each window is its first.
    const auto* const places = operation.tensor<std::uint8_t>("places", w.outputs());
    T* const dx = operation.tensor<T>("dx", in);
    operation.execute = [=](cudaStream_t stream) {
      pool_gradients<<<blocks, kThreads, 0, stream>>>(w, dy, places, dx);
    };
    return operation;
  });
}

/// x has the threads of one row, y the rows; together they are 256 threads.
dim3 row_threads(std::int64_t groups) {
  unsigned x = 16;
  while (x < 256 && x < groups) x *= 2;
  return dim3(x, 256 / x);
}

template <class T, int Size>
Operation embedding_of(Session& session, const Request& request) {
  Operation operation;
  const std::int64_t rows = request.shape[0], width = request.shape[1], tokens = request.shape[2];
  const T* const table = operation.tensor<T>("table", elements_of({rows, width}), Fill::normal);
  const std::int64_t* const ids = operation.indices("ids", tokens, rows);
  T* const y = operation.tensor<T>("y", elements_of({tokens, width}));
  const dim3 threads = row_threads(width / Size);
  const unsigned blocks = blocks_for(tokens, threads.y, 4 * full(session));
  operation.execute = [=](cudaStream_t stream) {
    look_up<T, Size><<<blocks, threads, 0, stream>>>(tokens, width / Size, ids,
                                                     reinterpret_cast<const Group<T, Size>*>(table),
                                                     reinterpret_cast<Group<T, Size>*>(y));
  };
  return operation;
}

Operation embedding(Session& session, const Request& request) {
  return by_type(request, [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int kSize = Pack<T>::kSize;
    return request.shape[1] % kSize == 0 ? embedding_of<T, kSize>(session, request)
                                         : embedding_of<T, 1>(session, request);
  });
}

Operation embedding_backward(Session& session, const Request& request) {
  return by_type(request, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Operation operation;
    const std::int64_t rows = request.shape[0], width = request.shape[1], tokens = request.shape[2];
    float* const table = operation.tensor<float>("table", elements_of({rows, width}));
    const std::int64_t* const ids = operation.indices("ids", tokens, rows);
    const T* const dy = operation.tensor<T>("dy", elements_of({tokens, width}), Fill::normal);
    const dim3 threads = row_threads(width);
    const unsigned blocks = blocks_for(tokens, threads.y, 4 * full(session));
    const auto bytes = static_cast<size_t>(rows * width) * sizeof(float);
    operation.execute = [=](cudaStream_t stream) {
      check(cudaMemsetAsync(table, 0, bytes, stream), "clearing");
      add_rows<<<blocks, threads, 0, stream>>>(tokens, width, ids, dy, table);
    };
    operation.kernels = 2;
    return operation;
  });
}

}  // namespace

Entries window_operators() {
  return {{"pooling", 6, pooling},
          {"pooling_backward", 6, pooling_backward},
          {"embedding", 3, embedding},
          {"embedding_backward", 3, embedding_backward}};
}

}  // namespace contend::cuda

// Measures what computing and communicating cost each other on one device. The kernels of a communication library are
// represented by `reduce` (training.cu), which runs with so many blocks on a stream of high priority; two of its three
// tensors are read and one is written, as a step of a ring does.
//
//   X_beside_reduce   the operation X, timed as usual, while reductions follow each other (time_beside() of
//   timing.cuh). reduce_beside_X   a reduction, while executions of X follow each other.
//
// X is gemm, layer_norm or attention; its dimensions come first, then the blocks.
#include "calibration/cuda/gemm.cuh"
#include "calibration/cuda/kernels.cuh"
#include "calibration/cuda/timing.cuh"

namespace contend::cuda {

namespace {

/// The operation of a family by its name, for all dimensions but the last.
Operation without_blocks(Session& session, const Entries& family, const char* name, const Request& request) {
  Request shorter = request;
  shorter.shape.pop_back();
  shorter.name = name;
  const auto entry =
      std::find_if(family.begin(), family.end(), [&](const Entry& each) { return shorter.name == each.name; });
  return entry->make(session, shorter);
}

/// Returns an operation whose time is the time of `timed` beside executions of `other`.
Operation beside(Session& session, Operation timed, bool timed_in_front, Operation other) {
  const auto first = std::make_shared<Operation>(std::move(timed));
  const auto second = std::make_shared<Operation>(std::move(other));
  Operation operation;
  // An execution alone, with which preparation ends, is an execution of the timed operation.
  operation.execute = first->execute;
  operation.time = [=, &session](int launches) {
    return time_beside(session, *first, timed_in_front, launches, second->execute);
  };
  return operation;
}

Operation reduce_of(const Request& request) {
  if (request.shape.back() > 1024) fail(CONTEND_UNSUPPORTED, "at most 1024 blocks");
  return make_reduce(request.shape.back());
}

template <Entries (*Family)()>
Operation beside_reduce(Session& session, const Request& request, const char* name) {
  return beside(session, without_blocks(session, Family(), name, request), false, reduce_of(request));
}
template <Entries (*Family)()>
Operation reduce_beside(Session& session, const Request& request, const char* name) {
  return beside(session, reduce_of(request), true, without_blocks(session, Family(), name, request));
}

}  // namespace

Entries contention_operators() {
  return {{"gemm_beside_reduce", 5,
           [](Session& s, const Request& r) { return beside_reduce<gemm_operators>(s, r, "gemm"); }},
          {"reduce_beside_gemm", 5,
           [](Session& s, const Request& r) { return reduce_beside<gemm_operators>(s, r, "gemm"); }},
          {"layer_norm_beside_reduce", 3,
           [](Session& s, const Request& r) { return beside_reduce<row_operators>(s, r, "layer_norm"); }},
          {"reduce_beside_layer_norm", 3,
           [](Session& s, const Request& r) { return reduce_beside<row_operators>(s, r, "layer_norm"); }},
          {"attention_beside_reduce", 6,
           [](Session& s, const Request& r) { return beside_reduce<attention_operators>(s, r, "attention"); }},
          {"reduce_beside_attention", 6,
           [](Session& s, const Request& r) { return reduce_beside<attention_operators>(s, r, "attention"); }}};
}

}  // namespace contend::cuda

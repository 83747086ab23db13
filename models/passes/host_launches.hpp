#pragma once
// A pass over iteration graphs: the host of each rank launches what the device does.
//
// A training program issues its kernels, copies and collectives one after the other from one thread, and the device
// runs each when it has been issued and all operations before it have ended. The thread doesn't wait for the device, so
// it runs ahead of it, into the next iteration. Where kernels are shorter than launches, the device waits for the
// thread: an iteration then takes as long as its launches do (PyTorch's CUDA semantics, asynchronous execution; NVIDIA,
// CUDA C++ programming guide, section 3.2.8, which has a launch return before its kernel runs).

#include "sim/graph.hpp"
#include "sim/units.hpp"

#include <functional>

namespace contend {

/// What a host does to have an operation done. An operation that stands for many kernels begins when the first of them
/// is launched; its host launches the `rest` meanwhile, and then what follows.
struct LaunchWork {
  Time first, rest;    ///< >= 0
  bool waits = false;  ///< for all that the operation waits for, before the first launch
};
using LaunchWorkOf = std::function<LaunchWork(OpId id, const Op& op)>;

/// The graph with tasks on the host of each rank for each compute operation, task of another lane, collective and
/// message; of messages the senders' hosts launch them. A collective begins when all its ranks have launched it. Timers
/// have no launch: something else than the launching thread has them. Before its first launch a host takes `step`, and
/// with `waits` it first waits for the last compute operation of the iteration before.
///
/// Hosts launch in program order, which is the order of the graph's dependencies within an iteration: of what may come
/// next, collectives and messages first, because a program issues them behind what made their data, then the operation
/// of the smallest priority and id. Tasks that the graph already has on the host take their places in this order, so
/// what follows a host task that waits for the device is launched after the wait. Operations keep their ids; launches
/// come behind them.
///
/// A launch that is over before its operation can begin, whatever else happens, delays nothing and has no task of its
/// own: the next task of the host takes its time as well. A launch is over in time if it ends before the operations do
/// that the launched one follows, counted from an instant at which the host was at work, on GPUs of all ranks that
/// compute up to `fastest` times as fast as the graph says. So a host that keeps ahead of its device has two tasks an
/// iteration.
[[nodiscard]] IterationGraph with_launches(const IterationGraph& graph, const LaunchWorkOf& work, Time step = {},
                                           bool waits = false, double fastest = 1);

}  // namespace contend

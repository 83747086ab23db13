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

namespace contend {

/// The graph with a task of `launch` on the host of each rank before each compute operation, task of another lane,
/// collective and message; of messages the senders' hosts launch them. A collective begins when all its ranks have
/// launched it. Timers have no launch: something else than the launching thread has them.
///
/// Hosts launch in program order, which is the order of the graph's dependencies within an iteration: of what may come
/// next, collectives and messages first, because a program issues them behind what made their data, then the operation
/// of the smallest priority and id. Tasks that the graph already has on the host take their places in this order, so
/// what follows a host task that waits for the device is launched after the wait. Operations keep their ids; launches
/// come behind them. 0: the graph as it is.
[[nodiscard]] IterationGraph with_launches(const IterationGraph& graph, Time launch);

}  // namespace contend

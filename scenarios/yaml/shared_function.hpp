#pragma once
// A function whose copies share what it captured.

#include <memory>
#include <type_traits>
#include <utility>

namespace contend {

template <class Signature>
class SharedFunction;

/// A std::function that costs one reference count to copy. The functions of a codec capture the codecs of what it
/// contains, and each of them captures its own: with std::function every level of nesting would copy all below it
/// several times, which took most of the time of a short command.
///
/// It is empty until a callable is assigned. Calling an empty one is undefined. Copies call the same callable, so a
/// callable must not change by being called.
template <class Result, class... Arguments>
class SharedFunction<Result(Arguments...)> {
 public:
  SharedFunction() = default;
  // NOLINTBEGIN(google-explicit-constructor): it takes a lambda, as std::function does.
  template <class Callable>
  requires std::is_invocable_r_v<Result, const Callable&, Arguments...> SharedFunction(Callable callable)
      : callable_{static_cast<const void*>(new Callable{std::move(callable)}), &destroy<Callable>},
        call_{&call<Callable>} {}
  // NOLINTEND(google-explicit-constructor)

  Result operator()(Arguments... arguments) const {
    return call_(callable_.get(), std::forward<Arguments>(arguments)...);
  }
  explicit operator bool() const { return callable_ != nullptr; }

 private:
  template <class Callable>
  static Result call(const void* callable, Arguments... arguments) {
    return (*static_cast<const Callable*>(callable))(std::forward<Arguments>(arguments)...);
  }
  template <class Callable>
  static void destroy(const void* callable) {
    delete static_cast<const Callable*>(callable);
  }

  // Pointers to functions, which are of the same type for every callable: the compiler makes two functions for each of
  // the hundreds of callables, and no class.
  std::shared_ptr<const void> callable_;
  Result (*call_)(const void*, Arguments...) = nullptr;
};

}  // namespace contend

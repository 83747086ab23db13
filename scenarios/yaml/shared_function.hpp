#pragma once
// A function whose copies share what it captured.

#include <functional>
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
      : function_{std::make_shared<const std::function<Result(Arguments...)>>(std::move(callable))} {}
  // NOLINTEND(google-explicit-constructor)

  Result operator()(Arguments... arguments) const { return (*function_)(std::forward<Arguments>(arguments)...); }
  explicit operator bool() const { return function_ != nullptr; }

 private:
  std::shared_ptr<const std::function<Result(Arguments...)>> function_;
};

}  // namespace contend

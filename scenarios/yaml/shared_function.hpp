#pragma once
// A function whose copies share the captured values.

#include <memory>
#include <utility>

namespace contend {

/// A callable of any type behind two pointers. Its copies are made out of line: codecs have hundreds of them.
class SharedCallable {
 public:
  explicit operator bool() const { return callable_ != nullptr; }

 protected:
  using Destroy = void (*)(const void*);
  using Call = void (*)();

  SharedCallable();
  SharedCallable(const void* callable, Destroy destroy, Call call);
  SharedCallable(const SharedCallable&);
  SharedCallable(SharedCallable&&) noexcept;
  SharedCallable& operator=(const SharedCallable&);
  SharedCallable& operator=(SharedCallable&&) noexcept;
  ~SharedCallable();

  std::shared_ptr<const void> callable_;
  Call call_ = nullptr;
};

template <class Signature>
class SharedFunction;

/// A std::function that costs one reference count to copy. The functions of a codec capture the codecs of its
/// parts, and each of these captures its own parts: with std::function every level of nesting would copy all below it
/// several times, which took most of the time of a short command.
///
/// It is empty until a callable is assigned. Calling an empty one is undefined. Copies call the same callable, so a
/// callable must not change by being called.
template <class Result, class... Arguments>
class SharedFunction<Result(Arguments...)> : public SharedCallable {
 public:
  SharedFunction() = default;
  // NOLINTBEGIN(google-explicit-constructor): it takes a lambda, as std::function does.
  template <class Callable>
  SharedFunction(Callable callable)
      : SharedCallable{new Callable{std::move(callable)}, &destroy<Callable>, reinterpret_cast<Call>(&call<Callable>)} {
  }
  // NOLINTEND(google-explicit-constructor)

  Result operator()(Arguments... arguments) const {
    return reinterpret_cast<Result (*)(const void*, Arguments...)>(call_)(callable_.get(),
                                                                          std::forward<Arguments>(arguments)...);
  }

 private:
  // Pointers to functions, which are of the same type for every callable: the compiler makes two functions for each of
  // the hundreds of callables, and no class.
  template <class Callable>
  static Result call(const void* callable, Arguments... arguments) {
    return (*static_cast<const Callable*>(callable))(std::forward<Arguments>(arguments)...);
  }
  template <class Callable>
  static void destroy(const void* callable) {
    delete static_cast<const Callable*>(callable);
  }
};

}  // namespace contend

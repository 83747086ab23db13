#include "scenarios/yaml/shared_function.hpp"

namespace contend {

SharedCallable::SharedCallable() = default;
SharedCallable::SharedCallable(const void* callable, Destroy destroy, Call call)
    : callable_{callable, destroy}, call_{call} {}
SharedCallable::SharedCallable(const SharedCallable&) = default;
SharedCallable::SharedCallable(SharedCallable&&) noexcept = default;
SharedCallable& SharedCallable::operator=(const SharedCallable&) = default;
SharedCallable& SharedCallable::operator=(SharedCallable&&) noexcept = default;
SharedCallable::~SharedCallable() = default;

}  // namespace contend

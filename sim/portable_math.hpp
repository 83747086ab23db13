#pragma once
// Logarithm and exponential that give the same bits on every machine: they use + - * / and ldexp alone, because those
// of C libraries differ in the last bit between versions and processors. Whatever reaches the engine uses these.

namespace contend {

/// Natural logarithm of a positive finite number, within 2 ulp.
[[nodiscard]] double portable_log(double x);

/// e^x within 2 ulp; 0 and infinity beyond the range of a double.
[[nodiscard]] double portable_exp(double x);

/// e^x - 1 without cancellation where x is small.
[[nodiscard]] double portable_expm1(double x);

/// log(1 + t) / t for t > -1, and 1 at 0, without cancellation where t is small.
[[nodiscard]] double log1p_ratio(double t);

/// (e^t - 1) / t, and 1 at 0.
[[nodiscard]] double expm1_ratio(double t);

/// cos(2 pi x), within 4e-16, for |x| up to 2^50.
[[nodiscard]] double portable_cos_of_turns(double x);

}  // namespace contend

#pragma once
// The words that figures use for keys, values and times.

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Names of keys without the parts that only tell where a key stands: `network.nic` is `NIC`, `overlap.workers` is
/// `workers`. A name has as many parts as tell it from the others.
[[nodiscard]] std::vector<std::string> key_titles(const std::vector<std::string>& keys);

/// Values as people write them: `top-k gamma_ps=499.671953` is `top-k (gamma 500 ps)`. Numbers have three significant
/// digits, or as many more as tell all values apart; what is no policy with parameters stays as it is.
[[nodiscard]] std::vector<std::string> value_titles(const std::vector<std::string>& values);

/// The order in which people list names: digits in them count as numbers, so that `job-2` comes before `job-10`.
[[nodiscard]] bool natural_less(std::string_view a, std::string_view b);

/// A unit of time and its length in seconds.
struct TimeUnit {
  std::string_view name;
  double length = 1;
};

/// The unit in which people tell a time: from two minutes, hours or days on the larger one; seconds for 0.
[[nodiscard]] TimeUnit time_unit(double seconds);

/// A length of time in the unit in which people tell it: `94.2 s`, `3.82 h`.
[[nodiscard]] std::string time_text(double seconds);

/// The text with a capital first letter, as the title of a figure.
[[nodiscard]] std::string capitalised(std::string text);

}  // namespace contend

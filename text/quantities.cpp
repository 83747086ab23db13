#include "text/quantities.hpp"

#include "sim/check.hpp"
#include "text/decimal.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

/// One unit is numerator / denominator of the base unit (ns, B, B/s, ns/B).
struct Unit {
  std::string name;
  std::int64_t numerator = 1;
  std::int64_t denominator = 1;
};
using Units = std::vector<Unit>;

constexpr std::int64_t kExactDouble = std::int64_t{1} << 53;

// The base unit comes last in each table. Of two equally short texts, the one with the earlier unit is printed.
template <class T>
const Units& units_of();

template <>
const Units& units_of<Time>() {
  static const Units units{{"d", 86'400'000'000'000},
                           {"h", 3'600'000'000'000},
                           {"min", 60'000'000'000},
                           {"s", 1'000'000'000},
                           {"ms", 1'000'000},
                           {"us", 1'000},
                           {"ns", 1}};
  return units;
}

template <>
const Units& units_of<Bytes>() {
  static const Units units{{"TiB", 1LL << 40},
                           {"GiB", 1LL << 30},
                           {"MiB", 1LL << 20},
                           {"KiB", 1LL << 10},
                           {"TB", 1'000'000'000'000},
                           {"GB", 1'000'000'000},
                           {"MB", 1'000'000},
                           {"KB", 1'000},
                           {"B", 1}};
  return units;
}

template <>
const Units& units_of<ByteRate>() {
  static const Units units = [] {
    Units all{{"Tbps", 125'000'000'000}, {"Gbps", 125'000'000}, {"Mbps", 125'000}, {"Kbps", 125}, {"bps", 1, 8}};
    for (const Unit& bytes : units_of<Bytes>()) all.push_back({bytes.name + "/s", bytes.numerator});
    return all;
  }();
  return units;
}

template <>
const Units& units_of<TimePerByte>() {
  static const Units units = [] {
    Units all;
    for (const Unit& time : units_of<Time>()) {
      if (time.numerator > 1'000'000'000) continue;
      for (const Unit& bytes : units_of<Bytes>())
        all.push_back({time.name + "/" + bytes.name, time.numerator, bytes.numerator});
    }
    return all;
  }();
  return units;
}

/// floor(0.FRACTION * unit), and whether a remainder was cut off. It works digit by digit from the right, so that it is
/// exact for any length of fraction: floor((n + x) / 10) = floor((n + floor(x)) / 10) for an integer n.
std::pair<std::int64_t, bool> fraction_of(std::string_view fraction, std::int64_t unit) {
  std::int64_t carry = 0;
  bool rest = false;
  for (std::size_t i = fraction.size(); i-- > 0;) {
    const std::int64_t x = (fraction[i] - '0') * unit + carry;
    rest = rest || x % 10 != 0;
    carry = x / 10;
  }
  return {carry, rest};
}

/// `number` units in base units, rounded up; nothing if it does not fit.
std::optional<std::int64_t> whole_value(std::string_view number, const Unit& unit) {
  const std::size_t point = std::min(number.find('.'), number.size());
  std::int64_t units = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + point, units);
  if (error != std::errc{}) return std::nullopt;
  const auto [part, rest] = fraction_of(number.substr(std::min(point + 1, number.size())), unit.numerator);
  const std::int64_t top = part + (rest ? 1 : 0);
  if (units > (std::numeric_limits<std::int64_t>::max() - top) / unit.numerator) return std::nullopt;
  return units * unit.numerator + top;
}

/// `number` units as a double, with one correctly rounded division if all digits fit, else two roundings.
std::optional<double> real_value(std::string_view number, const Unit& unit) {
  std::int64_t digits = 0;
  std::int64_t power = 1;
  bool exact = true;
  bool after_point = false;
  for (const char c : number) {
    if (c == '.') {
      after_point = true;
      continue;
    }
    exact = exact && digits < kExactDouble / 10 - 1 && (!after_point || power < kExactDouble / 10);
    if (!exact) break;
    digits = digits * 10 + (c - '0');
    if (after_point) power *= 10;
  }
  exact = exact && digits <= kExactDouble / unit.numerator && power <= kExactDouble / unit.denominator;
  if (exact) return static_cast<double>(digits * unit.numerator) / static_cast<double>(power * unit.denominator);

  double value = 0;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), value, std::chars_format::fixed);
  if (error == std::errc::result_out_of_range) {
    const bool tiny = number.substr(0, number.find('.')).find_first_not_of('0') == std::string_view::npos;
    return tiny ? std::optional{0.0} : std::nullopt;
  }
  value = value * static_cast<double>(unit.numerator) / static_cast<double>(unit.denominator);
  return std::isfinite(value) ? std::optional{value} : std::nullopt;
}

/// Candidates of print_quantity(): the shortest wins, then one without a point, then the one offered first.
class Shortest {
 public:
  void offer(std::string number, const Unit& unit) {
    const bool point = number.find('.') != std::string::npos;
    const std::tuple rank{number.size() + unit.name.size(), point};
    if (best_.empty() || rank < rank_) {
      rank_ = rank;
      best_ = std::move(number) + unit.name;
    }
  }
  /// True if no text of this many bytes can win any more.
  [[nodiscard]] bool beats(std::size_t length) const { return !best_.empty() && std::get<0>(rank_) < length; }
  [[nodiscard]] std::string take() { return std::move(best_); }

 private:
  std::string best_;
  std::tuple<std::size_t, bool> rank_;
};

std::string print_whole(std::int64_t value, const Units& units) {
  constexpr int kMaxDecimals = 9;
  constexpr std::int64_t kLargestHandy = 1'000;
  // A short whole number in the largest unit that has one is preferred: 30min, not 0.5h.
  const Unit* best = nullptr;
  for (const Unit& unit : units) {
    const bool handy = value % unit.numerator == 0 && value / unit.numerator < kLargestHandy;
    if (handy && (best == nullptr || unit.numerator > best->numerator)) best = &unit;
  }
  if (best != nullptr) return std::to_string(value / best->numerator) + best->name;
  Shortest shortest;
  for (const Unit& unit : units) {
    std::string number = std::to_string(value / unit.numerator);
    std::int64_t rest = value % unit.numerator;
    if (rest != 0) number += '.';
    for (int i = 0; i < kMaxDecimals && rest != 0; ++i) {
      rest *= 10;
      number += static_cast<char>('0' + rest / unit.numerator);
      rest %= unit.numerator;
    }
    if (rest == 0) shortest.offer(std::move(number), unit);
  }
  return shortest.take();
}

std::string fixed_text(double value, int decimals) {
  return fmt::format("{:.{}f}", value, decimals);
}

std::string print_real(double value, const Units& units) {
  constexpr int kMaxDigits = 17;
  Shortest shortest;
  // The base unit always has a text: the shortest digits of the double itself.
  std::array<char, 1100> buffer;
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  const std::string plain{buffer.data(), written.ptr};
  for (const Unit& unit : units) {
    if (unit.numerator == 1 && unit.denominator == 1) shortest.offer(plain, unit);
    const double scaled = value / static_cast<double>(unit.numerator) * static_cast<double>(unit.denominator);
    if (!(scaled >= 1e-3 && scaled < 1e7)) continue;
    const int leading = static_cast<int>(std::floor(std::log10(scaled))) + 1;
    for (int decimals = 0; decimals <= kMaxDigits - leading; ++decimals) {
      const int digits = std::max(1, leading) + (decimals > 0 ? decimals + 1 : 0);
      if (shortest.beats(static_cast<std::size_t>(digits) + unit.name.size())) break;
      std::string number = fixed_text(scaled, decimals);
      if (real_value(number, unit) != value) continue;
      shortest.offer(std::move(number), unit);
      break;
    }
  }
  return shortest.take();
}

/// Length of the leading number; 0 if there is none.
std::size_t number_length(std::string_view text) {
  const auto digits_from = [&](std::size_t i) {
    while (i < text.size() && is_digit(text[i])) ++i;
    return i;
  };
  const std::size_t whole = digits_from(0);
  if (whole == 0 || whole == text.size() || text[whole] != '.') return whole;
  const std::size_t all = digits_from(whole + 1);
  return all == whole + 1 ? 0 : all;
}

/// `1e9d` as `1000000000d`; empty if the number has no exponent, or one that no quantity needs.
std::string without_exponent(std::string_view text) {
  constexpr int kMostDigits = 320;
  const std::size_t length = number_length(text);
  if (length == 0 || length == text.size() || (text[length] != 'e' && text[length] != 'E')) return {};
  std::string_view rest = text.substr(length + 1);
  if (rest.starts_with('+')) rest.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), exponent);
  if (error != std::errc{} || std::abs(exponent) > kMostDigits) return {};
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  std::string digits{text.substr(0, length)};
  std::size_t point = std::min(digits.find('.'), digits.size());
  if (point < digits.size()) digits.erase(point, 1);
  if (exponent < 0) digits.insert(0, static_cast<std::size_t>(-exponent), '0');
  if (exponent > 0) digits.append(static_cast<std::size_t>(exponent), '0');
  if (exponent > 0) point += static_cast<std::size_t>(exponent);
  digits.insert(point, 1, '.');
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty() || digits.front() == '.') digits.insert(0, 1, '0');
  return digits + std::string{rest};
}

/// The unit as this program writes it: bits a second have several usual spellings, such as Gbps, Gbit/s and Gb/s. The
/// case tells bits (b) from bytes (B).
template <class T>
std::string usual_spelling(std::string_view unit) {
  if constexpr (std::is_same_v<T, ByteRate>) {
    for (const std::string_view suffix : {"bit/s", "Bit/s", "b/s"}) {
      if (!unit.ends_with(suffix)) continue;
      const std::string_view factor = unit.substr(0, unit.size() - suffix.size());
      return (factor == "k" ? "K" : std::string{factor}) + "bps";
    }
    if (unit == "kbps") return "Kbps";
  }
  return std::string{unit};
}

template <class T>
std::string unit_hint(std::string_view unit) {
  if constexpr (std::is_same_v<T, ByteRate>) {
    // Bits without "a second"; a case that leaves open whether bits or bytes are meant gets no guess.
    if (unit == "T" || unit == "G" || unit == "M") return fmt::format("did you mean \"{}bps\"?", unit);
    if (unit.ends_with("bit") || unit.ends_with("b"))
      if (const std::string known = usual_spelling<T>(std::string{unit} + "/s"); known != std::string{unit} + "/s")
        return fmt::format("did you mean \"{}\"?", known);
    if (unit.ends_with("Bps") && unit.size() > std::string_view{"Bps"}.size())
      return fmt::format("did you mean \"{0}B/s\" (bytes) or \"{0}bps\" (bits)?", unit.substr(0, 1));
    if (unit.ends_with("B")) return fmt::format("did you mean \"{}/s\"?", unit);
  }
  for (const Unit& known : units_of<T>()) {
    if (same_but_for_case(known.name, usual_spelling<T>(unit))) return fmt::format("did you mean \"{}\"?", known.name);
  }
  return fmt::format("units: {}", quantity_info<T>().units);
}

template <class T>
std::string pattern_of() {
  std::string names;
  for (const Unit& unit : units_of<T>()) names += (names.empty() ? "" : "|") + unit.name;
  if (std::is_same_v<T, ByteRate>) names += "|kbps|[TGMKk]?(b|[bB]it)/s";
  return fmt::format("^[0-9]+(\\.[0-9]+)? *({})$", names);
}

}  // namespace

template <>
const QuantityInfo& quantity_info<Time>() {
  static const QuantityInfo info{"time", "a time", "50us", "ns us ms s min h d", pattern_of<Time>()};
  return info;
}
template <>
const QuantityInfo& quantity_info<Bytes>() {
  static const QuantityInfo info{"bytes", "an amount of data", "25MiB", "B KB MB GB TB KiB MiB GiB TiB",
                                 pattern_of<Bytes>()};
  return info;
}
template <>
const QuantityInfo& quantity_info<ByteRate>() {
  static const QuantityInfo info{"rate", "a rate", "10Gbps",
                                 "bps Kbps Mbps Gbps Tbps, B/s KB/s MB/s GB/s TB/s KiB/s MiB/s GiB/s TiB/s",
                                 pattern_of<ByteRate>()};
  return info;
}
template <>
const QuantityInfo& quantity_info<TimePerByte>() {
  static const QuantityInfo info{"time per byte", "a time per byte", "0.856ms/MiB",
                                 "ns us ms s, each / B KB MB GB TB KiB MiB GiB TiB", pattern_of<TimePerByte>()};
  return info;
}

namespace {

template <class T>
Parsed<T> too_large() {
  const QuantityInfo& info = quantity_info<T>();
  const Unit& unit = units_of<T>().front();
  if constexpr (std::is_same_v<T, Time> || std::is_same_v<T, Bytes>) {
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() / unit.numerator;
    return {std::nullopt, fmt::format("{} of at most {}{}", info.noun, most, unit.name), "this one is too large"};
  } else {
    return {std::nullopt, fmt::format("{} of less than 1e308{}", info.noun, units_of<T>().back().name),
            "this one is too large"};
  }
}

}  // namespace

template <class T>
Parsed<T> parse_quantity(std::string_view text) {
  const QuantityInfo& info = quantity_info<T>();
  const auto failed = [&](std::string hint) {
    return Parsed<T>{std::nullopt, fmt::format("{} such as {}", info.noun, info.example), std::move(hint)};
  };
  const std::size_t length = number_length(text);
  if (length == 0) {
    const bool is_negative = text.starts_with('-') && parse_quantity<T>(text.substr(1)).value;
    return failed(is_negative ? "it is never below 0" : "");
  }
  if (const std::string plain = without_exponent(text); !plain.empty()) {
    const Parsed<T> written = parse_quantity<T>(plain);
    return written.value ? failed(fmt::format("write it without an exponent: {}", plain)) : written;
  }
  const std::string_view number = text.substr(0, length);
  std::string_view name = text.substr(length);
  name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
  if (name.empty()) return failed(fmt::format("write the unit: {}", info.units));

  const Units& units = units_of<T>();
  const std::string spelt = usual_spelling<T>(name);
  const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == spelt; });
  if (unit == units.end()) return failed(unit_hint<T>(name));

  constexpr bool kWhole = std::is_same_v<T, Time> || std::is_same_v<T, Bytes>;
  Parsed<T> result;
  if constexpr (kWhole) {
    if (const auto value = whole_value(number, *unit)) {
      if constexpr (std::is_same_v<T, Time>)
        result.value = Time::nanoseconds(*value);
      else
        result.value = T{*value};
    }
  } else {
    if (const auto value = real_value(number, *unit)) result.value = T{*value};
  }
  if (!result.value) return too_large<T>();
  return result;
}

template <class T>
std::string print_quantity(T value) {
  const Units& units = units_of<T>();
  if constexpr (std::is_same_v<T, Time>) {
    CONTEND_CHECK(value >= Time{}, "a printed time is not negative");
    if (value == Time{}) return "0s";  // rather than no days
    return print_whole(value.ns(), units);
  } else if constexpr (std::is_same_v<T, Bytes>) {
    CONTEND_CHECK(value >= Bytes{}, "a printed amount of data is not negative");
    if (value == Bytes{}) return "0B";
    return print_whole(value.count(), units);
  } else {
    double real = 0;
    if constexpr (std::is_same_v<T, ByteRate>)
      real = value.bytes_per_second();
    else
      real = value.ns_per_byte();
    CONTEND_CHECK(std::isfinite(real) && real >= 0, "a printed rate is finite and not negative");
    return print_real(real, units);
  }
}

template Parsed<Time> parse_quantity(std::string_view);
template Parsed<Bytes> parse_quantity(std::string_view);
template Parsed<ByteRate> parse_quantity(std::string_view);
template Parsed<TimePerByte> parse_quantity(std::string_view);
template std::string print_quantity(Time);
template std::string print_quantity(Bytes);
template std::string print_quantity(ByteRate);
template std::string print_quantity(TimePerByte);

std::string print_link_rate(ByteRate rate) {
  constexpr double kLargestHandy = 1'000;
  for (const Unit& unit : units_of<ByteRate>()) {
    if (!unit.name.ends_with("bps")) continue;
    const double scaled =
        rate.bytes_per_second() / static_cast<double>(unit.numerator) * static_cast<double>(unit.denominator);
    if (!(scaled >= 1 && scaled < kLargestHandy) || scaled != std::floor(scaled)) continue;
    const std::string number = fixed_text(scaled, 0);
    if (real_value(number, unit) == rate.bytes_per_second()) return number + unit.name;
  }
  return print_quantity(rate);
}

}  // namespace contend

#include "scenarios/sweep/sweep_points.hpp"

#include "scenarios/sweep/interpolation.hpp"
#include "scenarios/sweep/sobol.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

using Point = std::vector<std::uint32_t>;

class PointMaker {
 public:
  explicit PointMaker(const SweepSpec& spec) : spec_{spec} {}

  SweepPoints make() {
    note_keys();
    throw_complaints();
    std::vector<std::vector<Point>> parts;
    if (!spec_.list.empty()) parts.push_back(listed());
    if (!spec_.zip.empty()) parts.push_back(zipped());
    if (spec_.random) parts.push_back(drawn(*spec_.random));
    if (spec_.latin_hypercube) parts.push_back(stratified(*spec_.latin_hypercube));
    if (spec_.sobol) parts.push_back(even(*spec_.sobol));
    for (const SweepDimension& each : spec_.grid) {
      refuse_twice(each);
      std::vector<Point>& part = parts.emplace_back();
      for (const std::uint32_t setting : settings_of(each)) part.push_back({setting});
    }
    throw_complaints();
    combine(parts);
    result_.excluded.resize(spec_.exclude.size());
    std::erase_if(result_.points, [&](const Point& point) { return is_excluded(point); });
    return std::move(result_);
  }

 private:
  /// Every key belongs to one part.
  void note_keys() {
    std::map<std::string, std::string_view> parts;
    const auto note = [&](const std::string& key, std::string_view part, const SweepPlace& place) {
      const auto [first, is_new] = parts.emplace(key, part);
      if (is_new)
        result_.keys.push_back(key);
      else if (first->second != part || part != "list")
        complaints_.push_back(sweep_complaint(place, key, fmt::format("sweep.{} varies it too", first->second)));
    };
    for (const auto& point : spec_.list)
      for (const SweepSetting& setting : point) note(setting.key, "list", setting.value.place);
    const auto note_all = [&](const std::vector<SweepDimension>& dimensions, std::string_view part) {
      for (const SweepDimension& each : dimensions)
        note(each.key, part, each.range ? each.range->from.place : each.values.front().place);
    };
    note_all(spec_.zip, "zip");
    if (spec_.random) note_all(spec_.random->keys, "random");
    if (spec_.latin_hypercube) note_all(spec_.latin_hypercube->keys, "latin_hypercube");
    if (spec_.sobol) note_all(spec_.sobol->keys, "sobol");
    note_all(spec_.grid, "grid");
  }

  /// A grid with a value twice would run its points twice and count them twice in every mean.
  void refuse_twice(const SweepDimension& dimension) {
    std::map<std::string, const SweepValue*> seen;
    for (const SweepValue& value : dimension.values) {
      const std::string meaning = value.magnitude
                                      ? fmt::format("{}{}", base_number(*value.magnitude), base_unit(*value.magnitude))
                                      : value.text;
      const auto [first, is_new] = seen.emplace(meaning, &value);
      if (is_new) continue;
      const std::string& text = first->second->text;
      complaints_.push_back(sweep_complaint(value.place, dimension.key,
                                            value.text == text
                                                ? fmt::format("{} is there twice", text)
                                                : fmt::format("{} is there already, as {}", value.text, text)));
    }
  }

  void throw_complaints() {
    if (!complaints_.empty()) throw InputError{std::move(complaints_)};
  }

  std::uint32_t setting(const std::string& key, const SweepValue& value) {
    const auto next = static_cast<std::uint32_t>(result_.settings.size());
    const auto [there, is_new] = numbers_.emplace(std::pair{key, value.text}, next);
    if (is_new) result_.settings.push_back({key, value});
    return there->second;
  }

  std::vector<std::uint32_t> settings_of(const SweepDimension& dimension) {
    std::vector<std::uint32_t> numbers;
    if (!dimension.range) {
      for (const SweepValue& value : dimension.values) numbers.push_back(setting(dimension.key, value));
      return numbers;
    }
    try {
      for (std::string& text : Interpolation{dimension.key, *dimension.range}.values())
        numbers.push_back(setting(dimension.key, {std::move(text), dimension.range->from.place}));
    } catch (const InputError& error) {
      complaints_.insert(complaints_.end(), error.complaints().begin(), error.complaints().end());
    }
    return numbers;
  }

  std::vector<Point> listed() {
    std::vector<Point> part;
    for (const auto& settings : spec_.list) {
      Point& point = part.emplace_back();
      for (const SweepSetting& each : settings) point.push_back(setting(each.key, each.value));
    }
    return part;
  }

  std::vector<Point> zipped() {
    std::vector<Point> part;
    for (const SweepDimension& each : spec_.zip) {
      const std::vector<std::uint32_t> values = settings_of(each);
      if (part.empty()) part.resize(values.size());
      if (part.size() != values.size() && !values.empty()) {
        complaints_.push_back(sweep_complaint(
            each.range ? each.range->from.place : each.values.front().place, each.key,
            fmt::format("has {} values, the key before it in sweep.zip {}", values.size(), part.size())));
        continue;
      }
      for (std::size_t i = 0; i < values.size(); ++i) part[i].push_back(values[i]);
    }
    return part;
  }

  /// One of `count` at u in [0, 1).
  static std::size_t choice(double u, std::size_t count) {
    return std::min(count - 1, static_cast<std::size_t>(u * static_cast<double>(count)));
  }

  void draw(const SweepSample& sample, std::vector<Point>& part, std::string_view kind, bool strata) {
    for (const SweepDimension& each : sample.keys) {
      RandomStream stream{sample.seed, fmt::format("sweep/{}/{}", kind, each.key)};
      std::vector<std::size_t> order(part.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      if (strata) stream.shuffle(std::span{order});
      std::vector<double> places;
      for (const std::size_t stratum : order) {
        const double inner = stream.uniform();
        places.push_back(strata ? (static_cast<double>(stratum) + inner) / static_cast<double>(part.size()) : inner);
      }
      place(each, places, part);
    }
  }

  /// Adds to each point the value of a key at its place in [0, 1).
  void place(const SweepDimension& dimension, const std::vector<double>& places, std::vector<Point>& part) {
    try {
      std::optional<Interpolation> range;
      if (dimension.range) range.emplace(dimension.key, *dimension.range);
      for (std::size_t i = 0; i < part.size(); ++i) {
        const double u = places[i];
        part[i].push_back(range ? setting(dimension.key, {range->draw(u), dimension.range->from.place})
                                : setting(dimension.key, dimension.values[choice(u, dimension.values.size())]));
      }
    } catch (const InputError& error) {
      complaints_.insert(complaints_.end(), error.complaints().begin(), error.complaints().end());
    }
  }

  /// The first so many scrambled Sobol points.
  std::vector<Point> even(const SweepSample& sample) {
    std::vector<Point> part(static_cast<std::size_t>(sample.points));
    std::vector<std::string> names;
    for (const SweepDimension& each : sample.keys) names.push_back(each.key);
    if (names.empty()) return part;
    if (names.size() > kMaxSobolKeys) throw InputError{fmt::format("sweep.sobol of more than {} keys", kMaxSobolKeys)};
    const auto sobol = scrambled_sobol(part.size(), names, sample.seed);
    for (std::size_t k = 0; k < names.size(); ++k) {
      std::vector<double> places;
      for (const auto& each : sobol) places.push_back(each[k]);
      place(sample.keys[k], places, part);
    }
    return part;
  }

  std::vector<Point> drawn(const SweepSample& sample) {
    std::vector<Point> part(static_cast<std::size_t>(sample.points));
    draw(sample, part, "random", false);
    return part;
  }

  /// McKay, Beckman and Conover, "A comparison of three methods for selecting values of input variables in the analysis
  /// of output from a computer code", Technometrics 21 (1979).
  std::vector<Point> stratified(const SweepSample& sample) {
    std::vector<Point> part(static_cast<std::size_t>(sample.points));
    draw(sample, part, "latin-hypercube", true);
    return part;
  }

  /// The last part varies fastest.
  void combine(const std::vector<std::vector<Point>>& parts) {
    result_.points = {{}};
    for (const std::vector<Point>& part : parts) {
      if (part.size() * result_.points.size() > kMaxSweepPoints)
        throw InputError{fmt::format("a sweep of more than {} points", kMaxSweepPoints)};
      std::vector<Point> product;
      product.reserve(part.size() * result_.points.size());
      for (const Point& slow : result_.points) {
        for (const Point& fast : part) {
          product.push_back(slow);
          product.back().insert(product.back().end(), fast.begin(), fast.end());
        }
      }
      result_.points = std::move(product);
    }
  }

  bool is_excluded(const Point& point) {
    bool excluded = false;
    for (std::size_t i = 0; i < spec_.exclude.size(); ++i) {
      if (!matches(spec_.exclude[i], result_, point)) continue;
      ++result_.excluded[i];
      excluded = true;
    }
    return excluded;
  }

  const SweepSpec& spec_;
  SweepPoints result_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> numbers_;
  std::vector<Complaint> complaints_;
};

}  // namespace

Complaint sweep_complaint(const SweepPlace& place, const std::string& key, std::string reason, std::string hint) {
  Complaint complaint;
  complaint.file = place.file;
  complaint.line = place.line;
  complaint.column = place.column;
  complaint.source_line = place.source_line;
  complaint.key = key;
  complaint.reason = std::move(reason);
  complaint.hint = std::move(hint);
  return complaint;
}

SweepPoints sweep_points(const SweepSpec& spec) {
  return PointMaker{spec}.make();
}

bool matches(const SweepRule& rule, const SweepPoints& points, const std::vector<std::uint32_t>& point) {
  return std::all_of(rule.keys.begin(), rule.keys.end(), [&](const SweepDimension& wanted) {
    return std::any_of(point.begin(), point.end(), [&](std::uint32_t number) {
      const SweepSetting& setting = points.settings[number];
      return setting.key == wanted.key &&
             std::any_of(wanted.values.begin(), wanted.values.end(),
                         [&](const SweepValue& value) { return same_value(value, setting.value); });
    });
  });
}

bool varies(const SweepSpec& spec, const std::string& key) {
  const auto has = [&](const std::vector<SweepDimension>& dimensions) {
    return std::any_of(dimensions.begin(), dimensions.end(), [&](const auto& each) { return each.key == key; });
  };
  const auto listed = [&](const std::vector<SweepSetting>& point) {
    return std::any_of(point.begin(), point.end(), [&](const auto& each) { return each.key == key; });
  };
  return has(spec.zip) || has(spec.grid) || (spec.random && has(spec.random->keys)) ||
         (spec.latin_hypercube && has(spec.latin_hypercube->keys)) || (spec.sobol && has(spec.sobol->keys)) ||
         std::any_of(spec.list.begin(), spec.list.end(), listed);
}

void set_dimension(SweepSpec& spec, SweepDimension dimension) {
  const auto there =
      std::find_if(spec.grid.begin(), spec.grid.end(), [&](const auto& each) { return each.key == dimension.key; });
  if (there != spec.grid.end())
    *there = std::move(dimension);
  else
    spec.grid.push_back(std::move(dimension));
}

}  // namespace contend

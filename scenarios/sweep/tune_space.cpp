#include "scenarios/sweep/tune_space.hpp"

#include "scenarios/sweep/sobol.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <variant>

namespace contend {
namespace {

constexpr double kMiddle = 0.5;

std::string word_of(const SqlValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr ? *text : std::string{};
}

/// The coordinates of one parameter for each point; none if it does not vary.
std::vector<std::vector<double>> coordinates_of(std::span<const StorePoint> points, std::size_t parameter) {
  std::map<double, double> ranks;
  std::set<std::string> words;
  for (const StorePoint& point : points) {
    if (std::isfinite(point.numbers[parameter]))
      ranks.emplace(point.numbers[parameter], 0);
    else
      words.insert(word_of(point.values[parameter]));
  }
  std::vector<std::vector<double>> coordinates(points.size());
  if (ranks.size() + words.size() < 2) return coordinates;
  double next = 0;
  for (auto& [number, rank] : ranks) rank = ranks.size() < 2 ? kMiddle : next++ / static_cast<double>(ranks.size() - 1);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double number = points[i].numbers[parameter];
    if (ranks.size() > 1) coordinates[i].push_back(std::isfinite(number) ? ranks.at(number) : kMiddle);
    for (const std::string& word : words) {
      const bool is_this = !std::isfinite(number) && word_of(points[i].values[parameter]) == word;
      coordinates[i].push_back(is_this ? std::sqrt(0.5) : 0.0);
    }
  }
  return coordinates;
}

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

}  // namespace

TuneSpace tune_space(const StoreInfo& info, std::span<const StorePoint> points) {
  TuneSpace space;
  space.places.resize(points.size());
  for (std::size_t p = 0; p < info.parameters.size(); ++p) {
    const auto coordinates = coordinates_of(points, p);
    if (coordinates.empty() || coordinates.front().empty()) continue;
    space.key_of.insert(space.key_of.end(), coordinates.front().size(), space.keys.size());
    const std::set<std::vector<double>> levels(coordinates.begin(), coordinates.end());
    space.keys.push_back({info.parameters[p].key, {levels.begin(), levels.end()}});
    for (std::size_t i = 0; i < points.size(); ++i)
      space.places[i].insert(space.places[i].end(), coordinates[i].begin(), coordinates[i].end());
  }
  return space;
}

std::vector<std::size_t> first_points(const TuneSpace& space, std::size_t count, std::uint64_t start) {
  std::vector<std::size_t> chosen;
  count = std::min(count, space.places.size());
  if (space.keys.empty() || space.keys.size() > kMaxSobolKeys) {
    for (std::size_t i = 0; i < count; ++i) chosen.push_back(i);
    return chosen;
  }
  std::vector<std::string> names;
  for (const TuneSpace::Key& key : space.keys) names.push_back(key.name);
  std::vector<bool> taken(space.places.size(), false);
  for (const std::vector<double>& sobol : scrambled_sobol(count, names, start)) {
    std::vector<double> wanted;
    for (std::size_t k = 0; k < space.keys.size(); ++k) {
      const auto& levels = space.keys[k].levels;
      const auto level = static_cast<std::size_t>(sobol[k] * static_cast<double>(levels.size()));
      wanted.insert(wanted.end(), levels[level].begin(), levels[level].end());
    }
    std::size_t nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < space.places.size(); ++i) {
      if (taken[i]) continue;
      const double distance = squared_distance(space.places[i], wanted);
      if (distance < least) {
        least = distance;
        nearest = i;
      }
    }
    taken[nearest] = true;
    chosen.push_back(nearest);
  }
  return chosen;
}

}  // namespace contend

#include "validate/elastic/pollux_profiles.hpp"

#include "text/atomic_file.hpp"
#include "validate/elastic/elastic_suite.hpp"
#include "validate/table_column.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <numeric>

namespace contend {

namespace {

constexpr double kNearlyWhole = 1e-8;

int rounded_up(double value) {
  return static_cast<int>(std::ceil(value - kNearlyWhole));
}

CsvTable read_profile(const std::filesystem::path& path) {
  return parse_csv(read_file(path.string()), path.string());
}

/// The part of the way from one step to another, beyond the first.
MeasuredStep along(const MeasuredStep& from, const MeasuredStep& to, double width, double beyond) {
  return {(to.step_s - from.step_s) / width * beyond + from.step_s,
          (to.sync_s - from.sync_s) / width * beyond + from.sync_s};
}

/// The smallest of all rotations.
std::string digits_of(const std::vector<int>& placement) {
  std::string digits, smallest;
  for (const int gpus : placement) digits += std::to_string(gpus);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    std::rotate(digits.begin(), digits.begin() + 1, digits.end());
    if (smallest.empty() || digits < smallest) smallest = digits;
  }
  return smallest;
}

struct Point {
  double x = 0, y = 0;
};
using Triangle = std::array<Point, 3>;

/// Parts of the corners in a point; one is negative outside.
std::array<double, 3> parts_of(const Triangle& t, const Point& p) {
  const double area = (t[1].y - t[2].y) * (t[0].x - t[2].x) + (t[2].x - t[1].x) * (t[0].y - t[2].y);
  const double first = ((t[1].y - t[2].y) * (p.x - t[2].x) + (t[2].x - t[1].x) * (p.y - t[2].y)) / area;
  const double second = ((t[2].y - t[0].y) * (p.x - t[2].x) + (t[0].x - t[2].x) * (p.y - t[2].y)) / area;
  return {first, second, 1 - first - second};
}

/// True if no point lies inside the circle through the corners.
bool is_delaunay(const Triangle& t, const std::vector<Point>& points) {
  constexpr double kRounding = 1e-9;
  const auto square = [](const Point& p) { return p.x * p.x + p.y * p.y; };
  const double twice = 2 * (t[0].x * (t[1].y - t[2].y) + t[1].x * (t[2].y - t[0].y) + t[2].x * (t[0].y - t[1].y));
  Point centre;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const Point &next = t[(i + 1) % t.size()], &last = t[(i + 2) % t.size()];
    centre.x += square(t[i]) * (next.y - last.y) / twice;
    centre.y += square(t[i]) * (last.x - next.x) / twice;
  }
  const auto from_centre = [&](const Point& p) { return square({p.x - centre.x, p.y - centre.y}); };
  return std::ranges::all_of(points, [&](const Point& p) { return from_centre(p) >= from_centre(t[0]) - kRounding; });
}

std::vector<std::pair<std::string, PolluxApplication>> read_applications(const std::filesystem::path& folder) {
  struct Application {
    const char* name;
    int epochs, most_local;
  };
  constexpr Application kApplications[] = {{"bert", 2, 0},      {"cifar10", 100, 0}, {"deepspeech2", 80, 0},
                                           {"imagenet", 90, 0}, {"ncf", 10, 0},      {"yolov3", 50, 8}};
  std::vector<std::pair<std::string, PolluxApplication>> read;
  for (const Application& each : kApplications)
    read.emplace_back(each.name, PolluxApplication{(folder / each.name).string(), each.epochs, each.most_local});
  return read;
}

}  // namespace

PolluxApplication::PolluxApplication(const std::string& folder, int epochs, int most_local)
    : epochs_{epochs}, most_local_{most_local} {
  constexpr std::string_view kValidation = "validation-";
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    const std::string name = entry.path().stem().string();
    if (!name.starts_with(kValidation)) continue;
    const CsvTable table = read_profile(entry.path());
    const TableColumn progress{table, "progress"}, iteration{table, "iteration"};
    const TableColumn sqr{table, "grad_sqr"}, var{table, "grad_var"};
    std::vector<Epoch>& of_batch = epochs_of_[std::stoi(name.substr(kValidation.size()))];
    for (const CsvRow& row : table.rows)
      of_batch.push_back({progress.number(row), iteration.number(row), sqr.number(row), var.number(row)});
  }
  if (epochs_of_.empty()) throw InputError{fmt::format("{}: has no table validation-BATCH.csv", folder)};
  const CsvTable placements = read_profile(std::filesystem::path{folder} / "placements.csv");
  const TableColumn placement{placements, "placement"};
  const TableColumn placed_batch{placements, "local_bsz"}, placed_step{placements, "step_time"};
  const TableColumn placed_sync{placements, "sync_time"};
  std::map<std::pair<Shape, int>, int> placements_of;
  for (const CsvRow& row : placements.rows) {
    const std::string& digits = placement.text(row);
    const int batch = placed_batch.whole(row);
    const MeasuredStep step{placed_step.number(row), placed_sync.number(row)};
    placed_[digits][batch] = step;
    const Shape shape{
        static_cast<int>(digits.size()),
        std::accumulate(digits.begin(), digits.end(), 0, [](int sum, char digit) { return sum + (digit - '0'); })};
    shapes_[shape][batch].step_s += step.step_s;
    shapes_[shape][batch].sync_s += step.sync_s;
    ++placements_of[{shape, batch}];
    least_local_ = least_local_ == 0 ? batch : std::min(least_local_, batch);
    if (most_local == 0) most_local_ = std::max(most_local_, batch);
  }
  for (const auto& [key, count] : placements_of) {
    MeasuredStep& mean = shapes_[key.first][key.second];
    mean.step_s /= count;
    mean.sync_s /= count;
  }
  const CsvTable spread = read_profile(std::filesystem::path{folder} / "scalability.csv");
  const TableColumn nodes{spread, "num_nodes"}, replicas{spread, "num_replicas"}, batch{spread, "local_bsz"};
  const TableColumn step{spread, "step_time"}, sync{spread, "sync_time"};
  for (const CsvRow& row : spread.rows)
    shapes_[{nodes.whole(row), replicas.whole(row)}][batch.whole(row)] = {step.number(row), sync.number(row)};
}

double PolluxApplication::between(int batch, int epoch, double Epoch::*value) const {
  const auto above = epochs_of_.lower_bound(batch);
  if (above == epochs_of_.end() || (above == epochs_of_.begin() && above->first != batch))
    throw InputError{
        fmt::format("a batch of {} was not measured, only {} to {}", batch, initial_batch(), largest_batch())};
  const auto at = static_cast<std::size_t>(epoch);
  const double upper = above->second.at(at).*value;
  if (above->first == batch) return upper;
  const auto below = std::prev(above);
  const double lower = below->second.at(at).*value;
  return ((batch - below->first) * upper + (above->first - batch) * lower) / (above->first - below->first);
}

std::vector<int> PolluxApplication::batches() const {
  std::vector<int> batches;
  for (const auto& [batch, epochs] : epochs_of_) batches.push_back(batch);
  return batches;
}

double PolluxApplication::gain(int batch, int epoch) const {
  const double sqr = between(batch, epoch, &Epoch::sqr), var = between(batch, epoch, &Epoch::var);
  const double scale = static_cast<double>(batch) / initial_batch();
  return (var + sqr) / (var / scale + sqr);
}

double PolluxApplication::progress_before(int epoch) const {
  if (epoch == 0) return 0;
  const auto at = static_cast<std::size_t>(epoch - 1);
  double least = epochs_of_.begin()->second.at(at).progress;
  for (const auto& [batch, epochs] : epochs_of_) least = std::min(least, epochs.at(at).progress);
  return least;
}

MeasuredStep PolluxApplication::step(const std::vector<int>& placement, int local_batch) const {
  const std::string digits = digits_of(placement);
  const auto [known, is_new] = known_.try_emplace({digits, local_batch});
  if (!is_new) return known->second;
  const auto measured = placed_.find(digits);
  if (measured == placed_.end()) {
    const int gpus = std::accumulate(placement.begin(), placement.end(), 0);
    return known->second =
               between_shapes({std::min(static_cast<int>(placement.size()), kPolluxNodes), gpus}, local_batch);
  }
  const StepsByBatch& steps = measured->second;
  auto above = steps.lower_bound(local_batch);
  if (above == steps.begin() && above->first == local_batch) ++above;
  if (above == steps.end() || above == steps.begin())
    throw InputError{fmt::format("{} samples on a GPU were not measured, only {} to {}", local_batch,
                                 steps.begin()->first, steps.rbegin()->first)};
  const auto below = std::prev(above);
  return known->second = along(below->second, above->second, above->first - below->first, local_batch - below->first);
}

/// Shapes that were measured lie in columns of equal numbers of nodes. Their Delaunay triangulation has its triangles
/// between neighbouring columns.
PolluxApplication::Corners PolluxApplication::corners_of(Shape shape) const {
  const auto [nodes, gpus] = shape;
  const auto right = shapes_.lower_bound({nodes, 0});
  if (right == shapes_.end() || (right == shapes_.begin() && right->first.first != nodes))
    throw InputError{fmt::format("{} nodes are beyond what was measured", nodes)};
  const int right_nodes = right->first.first;
  const int left_nodes = right_nodes == nodes ? nodes : std::prev(right)->first.first;
  std::vector<Point> columns[2];
  for (const auto& [each, steps] : shapes_) {
    if (each.first == left_nodes)
      columns[0].push_back({static_cast<double>(each.first), static_cast<double>(each.second)});
    if (each.first == right_nodes)
      columns[1].push_back({static_cast<double>(each.first), static_cast<double>(each.second)});
  }
  const auto shape_of = [](const Point& p) { return Shape{static_cast<int>(p.x), static_cast<int>(p.y)}; };
  Corners corners;
  if (left_nodes == right_nodes) {
    for (std::size_t i = 1; i < columns[0].size(); ++i) {
      const Point &low = columns[0][i - 1], &high = columns[0][i];
      if (gpus < low.y || gpus > high.y) continue;
      corners = {{shape_of(low), (high.y - gpus) / (high.y - low.y)},
                 {shape_of(high), (gpus - low.y) / (high.y - low.y)}};
      if (gpus < high.y) break;
    }
  }
  std::vector<Point> all = columns[0];
  all.insert(all.end(), columns[1].begin(), columns[1].end());
  constexpr double kOutside = -1e-12;
  for (const int side : {0, 1}) {
    if (left_nodes == right_nodes) break;
    for (std::size_t i = 1; i < columns[side].size(); ++i) {
      for (const Point& opposite : columns[1 - side]) {
        const Triangle triangle{columns[side][i - 1], columns[side][i], opposite};
        const std::array<double, 3> parts = parts_of(triangle, {static_cast<double>(nodes), static_cast<double>(gpus)});
        if (std::ranges::min(parts) < kOutside || !is_delaunay(triangle, all)) continue;
        corners.clear();
        for (std::size_t c = 0; c < parts.size(); ++c) corners.emplace_back(shape_of(triangle[c]), parts[c]);
      }
    }
  }
  if (corners.empty()) throw InputError{fmt::format("{} GPUs on {} nodes are beyond what was measured", gpus, nodes)};
  constexpr double kNothing = 1e-13;
  std::erase_if(corners, [](const std::pair<Shape, double>& corner) { return corner.second <= kNothing; });
  return corners;
}

/// All shapes were measured at the same batches, so that between two batches a triangle is a prism whose corners lie on
/// a sphere. A Delaunay triangulation may cut it into tetrahedra in six ways. Here the corners with the fewest GPUs
/// come first at the larger batch.
MeasuredStep PolluxApplication::between_shapes(Shape shape, int local_batch) const {
  Corners corners = corners_of(shape);
  std::ranges::sort(corners, [](const auto& a, const auto& b) {
    return std::pair{a.first.second, a.first.first} < std::pair{b.first.second, b.first.first};
  });
  const StepsByBatch& grid = shapes_.at(corners.front().first);
  const auto above = grid.lower_bound(local_batch);
  if (above == grid.end() || (above == grid.begin() && above->first != local_batch))
    throw InputError{fmt::format("{} samples on a GPU were not measured, only {} to {}", local_batch,
                                 grid.begin()->first, grid.rbegin()->first)};
  const int upper = above->first, lower = upper == local_batch ? upper : std::prev(above)->first;
  double above_left = upper == lower ? 1 : static_cast<double>(local_batch - lower) / (upper - lower);
  MeasuredStep sum;
  for (const auto& [corner, part] : corners) {
    const MeasuredStep &low = shapes_.at(corner).at(lower), &high = shapes_.at(corner).at(upper);
    const double of_high = std::min(part, above_left);
    above_left -= of_high;
    sum.step_s += of_high * high.step_s + (part - of_high) * low.step_s;
    sum.sync_s += of_high * high.sync_s + (part - of_high) * low.sync_s;
  }
  return sum;
}

LocalBatch divide_batch(const PolluxApplication& application, int batch, int gpus, bool accumulates) {
  const int each = rounded_up(static_cast<double>(batch) / gpus);
  LocalBatch local;
  local.accumulated = rounded_up(static_cast<double>(each) / application.most_local()) - 1;
  if (accumulates) local.accumulated = std::max(1, local.accumulated);
  local.samples = std::min(rounded_up(static_cast<double>(each) / (local.accumulated + 1)),
                           application.largest_batch() / (gpus * (local.accumulated + 1)));
  return local;
}

double iteration_s(const PolluxApplication& application, const std::vector<int>& placement, const LocalBatch& local) {
  const MeasuredStep step = application.step(placement, local.samples);
  return step.step_s + (step.step_s - step.sync_s) * local.accumulated;
}

double packed_iteration_s(const PolluxApplication& application, int gpus, const LocalBatch& local) {
  std::vector<int> placement;
  for (int left = gpus; left > 0; left -= kPolluxGpusPerNode) placement.push_back(std::min(left, kPolluxGpusPerNode));
  return iteration_s(application, placement, local);
}

std::optional<PolluxList> read_pollux_list(int workload) {
  const std::filesystem::path folder = std::filesystem::path{gavel_folder()}.parent_path() / "pollux";
  const std::string path = (folder / "workloads" / fmt::format("workload-{}.csv", workload)).string();
  if (!std::filesystem::exists(path)) return std::nullopt;
  PolluxList list{read_applications(folder / "profiles"), {}};
  const CsvTable table = parse_csv(read_file(path), path);
  const TableColumn name{table, "name"}, time{table, "time"}, application{table, "application"};
  const TableColumn replicas{table, "num_replicas"}, batch{table, "batch_size"};
  for (const CsvRow& row : table.rows) {
    const auto found =
        std::ranges::find(list.applications, application.text(row), &std::pair<std::string, PolluxApplication>::first);
    if (found == list.applications.end())
      throw InputError{fmt::format("{}: there is no application {}", path, application.text(row))};
    PolluxRow job{.name = name.text(row),
                  .application = static_cast<std::size_t>(found - list.applications.begin()),
                  .submit_s = time.whole(row),
                  .gpus = replicas.whole(row),
                  .batch = batch.whole(row)};
    job.most_gpus = found->first == "ncf" ? 1 : job.batch / found->second.least_local();
    list.jobs.push_back(std::move(job));
  }
  return list;
}

}  // namespace contend

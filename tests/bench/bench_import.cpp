// The cost of reading a job list of a million rows, beside the least that anybody would write: getline, cut at the
// commas, stod for every number, no checks. Both read the same file in turns within one run; the medians of processor
// time are printed.
//   bench_import [ROWS]

#include "sim/random_stream.hpp"
#include "text/atomic_file.hpp"
#include "text/decimal.hpp"
#include "traces/job_list.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

namespace {

std::string job_list(int rows) {
  contend::RandomStream random{1, "jobs"};
  std::string csv = "job_id,submit_s,model,gpus,duration_s,outcome,limit_s,vc,user,cpus\n";
  std::int64_t submit = 0;
  for (int i = 0; i < rows; ++i) {
    submit += random.uniform_integer(0, 200);
    csv += fmt::format("application_1506638472019_{},{},resnet50,{},{}.{:03},{},{},vc{},user{},4\n", i, submit,
                       1 << random.uniform_integer(0, 5), random.uniform_integer(1, 500'000),
                       random.uniform_integer(0, 999), i % 7 == 0 ? "failed" : "completed",
                       random.uniform_integer(3'600, 864'000), i % 15, random.uniform_integer(1, 400));
  }
  return csv;
}

struct NaiveJob {
  std::string name, model, outcome, vc, user;
  double submit = 0, gpus = 0, duration = 0, limit = 0, cpus = 0;
};

std::vector<NaiveJob> read_naively(const std::string& path) {
  std::ifstream file{path};
  std::string line;
  std::getline(file, line);
  std::vector<NaiveJob> jobs;
  std::vector<std::string> fields;
  while (std::getline(file, line)) {
    fields.clear();
    for (std::size_t begin = 0; begin <= line.size();) {
      const std::size_t comma = std::min(line.find(',', begin), line.size());
      fields.push_back(line.substr(begin, comma - begin));
      begin = comma + 1;
    }
    jobs.push_back({fields[0], fields[2], fields[5], fields[7], fields[8], std::stod(fields[1]), std::stod(fields[3]),
                    std::stod(fields[4]), std::stod(fields[6]), std::stod(fields[9])});
  }
  return jobs;
}

template <class Read>
double seconds(Read read, double& check) {
  const std::clock_t start = std::clock();
  const auto jobs = read();
  const std::clock_t end = std::clock();
  check += static_cast<double>(jobs.size());
  return static_cast<double>(end - start) / CLOCKS_PER_SEC;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int rows = argc > 1 ? std::atoi(argv[1]) : 1'000'000;
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("contend-bench-import-{}.csv", ::getpid())).string();
  contend::write_file(path, job_list(rows));
  std::vector<double> ours;
  std::vector<double> naive;
  double check = 0;
  for (int repetition = 0; repetition < 5; ++repetition) {
    ours.push_back(seconds([&] { return contend::read_job_list(path); }, check));
    naive.push_back(seconds([&] { return read_naively(path); }, check));
  }
  const double size = static_cast<double>(std::filesystem::file_size(path)) / (1 << 20);
  std::filesystem::remove(path);
  fmt::print("{} rows, {:.0f} MiB, processor time: read_job_list {:.3f} s, getline and stod {:.3f} s, ratio {:.2f}{}\n",
             rows, size, median(ours), median(naive), median(ours) / median(naive),
             check == 10.0 * rows ? "" : " (ROWS MISSING)");
  return 0;
}

#include "validate/ada_srsf/ada_srsf.hpp"

#include "scenarios/keys/print.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "sim/error.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "text/atomic_file.hpp"
#include "traces/job_list.hpp"
#include "validate/ada_srsf/time_stepped.hpp"
#include "validate/suites.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

using namespace contend;

namespace {

/// A folder of reference data of our own, to which CONTEND_DATA points as long as it lives.
class ReferenceData {
 public:
  ReferenceData() {
    if (const char* const before = std::getenv("CONTEND_DATA")) before_ = before;
    std::filesystem::create_directories(folder());
    setenv("CONTEND_DATA", top_.c_str(), 1);
    // Two jobs of one GPU that never meet: 10 iterations of 25 + 37 ms and 10 of 36 + 54 ms.
    write("jobs_1.csv", "job_id,submit_ms,model,gpus,iterations\na,0,resnet50,1,10\nb,5,vgg16,1,10\n");
  }
  ~ReferenceData() {
    before_.empty() ? unsetenv("CONTEND_DATA") : setenv("CONTEND_DATA", before_.c_str(), 1);
    std::filesystem::remove_all(top_);
  }
  ReferenceData(const ReferenceData&) = delete;
  ReferenceData& operator=(const ReferenceData&) = delete;

  [[nodiscard]] std::string folder() const { return (top_ / "ada_srsf").string(); }
  void write(const std::string& name, const std::string& text) const {
    write_file((std::filesystem::path{folder()} / name).string(), text);
  }
  /// JCT 620 and 900 ms: average and median 760, p95 = 620 + 0.95 x 280 = 886. The last finish is at 905; the reference
  /// counts the step that begins there. Utilisation (620 + 900) / (64 x 906).
  void expect(const std::string& figures = "760,760,886,906,0.026214") const {
    write("expected.csv",
          "job_set,placement,communication,avg_jct_ms,median_jct_ms,p95_jct_ms,makespan_ms,gpu_utilisation\n"
          "1,lwf-1,srsf(1)," +
              figures + "\n");
  }

 private:
  std::filesystem::path top_ =
      std::filesystem::temp_directory_path() / ("contend-validate-" + std::to_string(getpid()));
  std::string before_;
};

struct Outcome {
  int code = -1;
  std::string text;
  [[nodiscard]] bool says(const std::string& words) const { return text.find(words) != std::string::npos; }
};

/// Runs the suite with this number of drawn job sets, which need no data.
Outcome run_suite(int drawn_sets = 0) {
  Outcome outcome;
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  outcome.code = validate_ada_srsf(file, drawn_sets);
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) outcome.text += static_cast<char>(c);
  std::fclose(file);
  return outcome;
}

}  // namespace

TEST_CASE("the suite passes on two jobs worked out by hand") {
  const ReferenceData data;
  data.expect();
  const Outcome outcome = run_suite();
  CHECK(outcome.code == 0);
  CHECK_MESSAGE(outcome.says("ada-srsf: passed\n"), outcome.text);
  CHECK_FALSE(outcome.says("FAILED"));
}

TEST_CASE("the suite fails on any figure that is off") {
  const ReferenceData data;
  for (const char* const figures :
       {"912,760,886,906,0.026214",     // average JCT 20% off: set, policy and grid
        "760.1,760,886,906,0.026214",   // 0.1 ms off: the grid
        "760.01,760,886,906,0.026214",  // what the time stepper has to give exactly
        "760,760.01,886,906,0.026214", "760,760,886.01,906,0.026214", "760,760,886,906.5,0.026214",
        "760,762,886,906,0.026214",     // median
        "760,760,884,906,0.026214",     // 95th percentile
        "760,760,886,908,0.026214",     // makespan
        "760,760,886,906,0.026216"}) {  // utilisation
    CAPTURE(figures);
    data.expect(figures);
    const Outcome outcome = run_suite();
    CHECK(outcome.code == 1);
    CHECK(outcome.says("ada-srsf: FAILED\n"));
  }
}

TEST_CASE("on drawn job sets the engine and the time stepper end every job at the same nanosecond" *
          doctest::skip(kSanitized)) {
  const ReferenceData data;
  data.expect();
  const Outcome outcome = run_suite(1);
  CHECK(outcome.code == 0);
  CHECK_MESSAGE(outcome.says("1120 of 1120 jobs end at the same nanosecond"), outcome.text);
  CHECK(outcome.says("averages equal to the reference: 1 of 1 without the rules, 1 and 1 with one, 1 with both"));
}

TEST_CASE("without data the suite names the skipped parts; bad data are bad input") {
  const ReferenceData data;
  CHECK_THROWS_AS(run_suite(), InputError);  // no expected.csv
  data.expect("760,760,886,906,high");
  CHECK_THROWS_AS(run_suite(), InputError);
  std::filesystem::remove_all(data.folder());
  const Outcome outcome = run_suite();
  CHECK(outcome.code == 0);
  CHECK(outcome.says("skipped, there is no folder " + data.folder()));
  CHECK(outcome.says("ada-srsf: passed, the part that needs data skipped\n"));
}

TEST_CASE("jobs given in code run as a job list does") {
  const ReferenceData data;
  data.write("jobs_1.csv",
             "job_id,submit_ms,model,gpus,iterations\n"
             "a,0,resnet50,40,30\nb,5,vgg16,50,10\nc,7,lstm,60,20\nd,9,inception-v3,32,15\n");
  const TimeSteppedRow row{.job_set = 1, .placement = "lwf-1", .communication = "ada-dual"};
  const Scenario scenario = time_stepped_scenario(row, data.folder(), Time{});
  const RunResult in_code = run_workload(scenario, build_workload(read_job_list(*scenario.workload.jobs)), 1);
  CHECK(in_code.digest == run_scenario(scenario, 1).digest);

  // Shifts below 1 ms move the average JCT a little, by the seed, and repeatably.
  const double first = shifted_avg_jct_ms(scenario, 1);
  CHECK(first == shifted_avg_jct_ms(scenario, 1));
  CHECK(first != shifted_avg_jct_ms(scenario, 2));
  CHECK(first == near(summarise(in_code).avg_jct_s * 1e3, 0.001));
}

TEST_CASE("the suites run the shipped scenarios") {
  const auto same = [](const std::string& file, std::string_view placement, std::string_view communication) {
    Scenario shipped = load_scenario("scenarios/ada-srsf/" + file);
    const Scenario ours = ada_srsf_scenario(placement, communication);
    shipped.name = ours.name;
    shipped.description = ours.description;
    shipped.repeat = ours.repeat;
    CHECK(to_yaml(shipped) == to_yaml(ours));
  };
  same("placement-1-first-fit.yaml", "first-fit", "ada-dual");
  same("placement-4-lwf-1.yaml", "{policy: lwf, kappa: 1}", "ada-dual");
  same("communication-1-srsf-1.yaml", "{policy: lwf, kappa: 1}", "{policy: srsf, ways: 1}");
  same("communication-2-srsf-2.yaml", "{policy: lwf, kappa: 1}", "{policy: srsf, ways: 2}");
  same("communication-4-ada-srsf.yaml", "{policy: lwf, kappa: 1}", "ada-dual");
  CHECK_THROWS_AS(static_cast<void>(ada_srsf_scenario("last-fit", "ada-dual")), InputError);
}

TEST_CASE("suites have names of their own and a summary") {
  for (const SuiteRow& suite : validation_suites()) {
    CHECK_FALSE(suite.summary.empty());
    CHECK(std::count_if(validation_suites().begin(), validation_suites().end(),
                        [&](const SuiteRow& other) { return other.name == suite.name; }) == 1);
  }
}

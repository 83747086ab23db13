// Rules by which the batch of a job changes while it trains.

#include "traces/batch_rules.hpp"

#include "sim/error.hpp"
#include "tests/complaint_lines.hpp"
#include "traces/job_list.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// The parts of a job, such as `m to 0.3, big x4 to 1`.
std::string parts_text(const BatchRules& rules, const std::string& rule, const std::string& model, int gpus,
                       double iterations) {
  std::string text;
  for (const TrainingPart& part : rules.parts_of(rule, model, gpus, iterations)) {
    const std::string factor = part.batch_factor == 1 ? "" : fmt::format(" x{:g}", part.batch_factor);
    text += fmt::format("{}{}{} to {:.4g}", text.empty() ? "" : ", ", part.trains_as, factor, part.until);
  }
  return text;
}

std::string refused_rules(const std::string& text) {
  return complaint_lines([&] { static_cast<void>(parse_batch_rules(text, "r.csv")); });
}

bool names_text(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("batch rules: a row holds from the later of its iteration and its share, and the last that holds counts") {
  // Accordion: the large batch after 30% and 10 iterations, but the small one from 150 to 160.
  const BatchRules rules = parse_batch_rules(
      "rule,model,from_iteration,from_share,trains_as,batch_factor\n"
      "accordion,m,10,0.3,big,8\n"
      "accordion,m,150,,m,1\n"
      "accordion,m,160,0.3,big,8\n",
      "r.csv");
  CHECK(parts_text(rules, "accordion", "m", 1, 20) == "m to 0.5, big x8 to 1");
  CHECK(parts_text(rules, "accordion", "m", 1, 200) == "m to 0.3, big x8 to 0.75, m to 0.8, big x8 to 1");
  CHECK(parts_text(rules, "accordion", "m", 1, 1000) == "m to 0.3, big x8 to 1");
  CHECK(parts_text(rules, "accordion", "m", 1, 10) == "m to 1");  // it ends when the change would come
  CHECK(parts_text(rules, "accordion", "other", 1, 200) == "other to 1");
}

TEST_CASE("batch rules: rows for one number of GPUs hold for no other") {
  const BatchRules rules = parse_batch_rules(
      "rule,model,gpus,from_share,trains_as,batch_factor\ngns,m,1,0.5,m2,2\ngns,m,2,0.25,m2,2\ngns,m,,0.75,m4,4\n",
      "r.csv");
  CHECK(parts_text(rules, "gns", "m", 1, 100) == "m to 0.5, m2 x2 to 0.75, m4 x4 to 1");
  CHECK(parts_text(rules, "gns", "m", 2, 100) == "m to 0.25, m2 x2 to 0.75, m4 x4 to 1");
  CHECK(parts_text(rules, "gns", "m", 4, 100) == "m to 0.75, m4 x4 to 1");
  CHECK(rules.names() == std::vector<std::string>{"gns"});
}

TEST_CASE("batch rules: what is wrong in a table is named by line and column") {
  CHECK(names_text(refused_rules("rule,model,trains_as\na,m,b\n"), "no column \"from_iteration\" or \"from_share\""));
  CHECK(names_text(refused_rules("rule,model,from_share\na,m,0.5\n"), "no column \"trains_as\""));
  CHECK(names_text(refused_rules("rule,model,trains_as,from_shar\na,m,b,0\n"), "unknown column \"from_shar\""));
  CHECK(names_text(refused_rules("rule,model,trains_as,from_share\n"), "the table has no rows"));
  CHECK(names_text(refused_rules("rule,model,trains_as,from_share\n,m,b,0\n"), "expected a name, got nothing"));
  CHECK(names_text(refused_rules("rule,model,trains_as,from_share\na,m,b,1.5\n"),
                   "r.csv:2: from_share: expected a number from 0 to 1"));
  CHECK(names_text(refused_rules("rule,model,trains_as,from_share,gpus\na,m,b,0,1.5\n"), "expected a whole number"));
  CHECK(names_text(refused_rules("rule,model,trains_as,from_share,batch_factor\na,m,b,0,0\n"),
                   "batch_factor: expected a number"));
}

TEST_CASE("job lists: a batch rule is read, written, and refused with a duration") {
  const std::string text = "job_id,submit_s,model,gpus,iterations,batch_rule\na,0,resnet50,1,10,gns\n";
  const std::vector<JobRequest> jobs = parse_job_list(text, "jobs.csv");
  CHECK(jobs[0].batch_rule == "gns");
  CHECK(parse_job_list(job_list_csv(jobs), "again.csv")[0].batch_rule == "gns");
  std::string why;
  try {
    static_cast<void>(parse_job_list("job_id,submit_s,gpus,duration_s,batch_rule\na,0,1,5,gns\n", "jobs.csv"));
  } catch (const InputError& error) {
    why = error.complaints().front().format();
  }
  CHECK(names_text(why, "has no effect on a job with a duration_s"));
}

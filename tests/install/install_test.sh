#!/usr/bin/env bash
# Installs a build folder into a temporary one, moves that elsewhere, and uses the program there without the source tree.
# Usage: install_test.sh BUILD_FOLDER SOURCE_FOLDER COMPILER PYTHON
set -euo pipefail
build=$(realpath "$1") source=$(realpath "$2") compiler=$3 python=$4
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
fail() { echo "install_test: $1" >&2; exit 1; }

cmake --install "$build" --prefix "$place/first" >"$place/log" || { cat "$place/log" >&2; exit 1; }
mv "$place/first" "$place/second"
prefix=$place/second
mkdir "$place/empty"
cd "$place/empty"

program=$prefix/bin/contend
version=$("$program" --version)
[[ $version == "$("$build/contend" --version)" && -n $version ]] || fail "the installed program says it is $version"
# Every shipped scenario is there with the files that it names; without its installation there is none.
count=0
while IFS= read -r file; do
  "$program" show "${file#"$prefix/share/contend/"}" >/dev/null || fail "$file can't be read"
  count=$((count + 1))
done < <(find "$prefix/share/contend/scenarios" -name '*.yaml')
((count > 25)) || fail "only $count scenarios are installed"
"$program" run scenarios/ada-srsf/base.yaml --repeat 1 --until 20s -q 2>/dev/null || (($? == 4)) || fail "a shipped scenario doesn't run"
"$program" compare scenarios/ada-srsf/base.yaml scenarios/ada-srsf/base.yaml --repeat 1 --set engine.until=20s -q 2>/dev/null ||
  fail "a shipped scenario isn't compared"
"$program" run scenarios/ada-srsf/base.yaml --repeat 1 --until 20s -q --certificate -o certified 2>/dev/null || (($? == 4)) ||
  fail "a shipped scenario isn't logged"
"$prefix/bin/contend-check" certified >"$place/log" || { cat "$place/log" >&2; fail "contend-check doesn't find a good run good"; }
rm -r certified
if CONTEND_SHARE=/nonexistent "$program" show scenarios/ada-srsf/base.yaml 2>/dev/null; then
  fail "a scenario is found where none is"
fi

# The profiles of measured devices are there, for scenarios that name them and for the suite that compares with them.
cat >profile.yaml <<'END'
schema_version: 1
training:
  step: {model: resnet50, batch: 32, dtype: bf16, device: {profile: models/devices/h100-sxm5-80gb-pytorch.yaml}}
overlap: {training: step}
END
"$program" run profile.yaml -q || fail "a scenario that names a shipped profile doesn't run"
"$program" validate calibration >"$place/log" || { cat "$place/log" >&2; fail "calibration doesn't hold"; }
grep -q "calibration: passed: 1[0-9] of 11 figures" "$place/log" || { cat "$place/log" >&2; fail "calibration compares too little"; }
code=0
CONTEND_SHARE=/nonexistent "$program" validate calibration >/dev/null 2>"$place/log" || code=$?
((code == 5)) || fail "without profiles, calibration ends with exit code $code"
grep -q "calibration compared nothing" "$place/log" || fail "calibration doesn't say that it compared nothing"
rm profile.yaml

cmp "$prefix/share/contend/scenario.schema.json" <("$program" schema)
cmp "$prefix/share/man/man1/contend-run.1" <("$program" man run)
cmp "$prefix/share/bash-completion/completions/contend" <("$program" completion bash)
cmp "$prefix/share/zsh/vendor-completions/_contend" <("$program" completion zsh)
cmp "$prefix/share/fish/vendor_completions.d/contend.fish" <("$program" completion fish)
head -n 1 "$prefix/share/doc/contend/CHANGELOG.md" >/dev/null
# Where these programs are, they have no complaint.
if command -v man >/dev/null; then
  for page in "$prefix"/share/man/man1/*.1; do
    warnings=$(MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null |
      grep -v "can't break line" || true)  # the placeholder of an argument may be longer than a line
    [[ -z $warnings ]] || fail "$page: $warnings"
  done
fi
if command -v zsh >/dev/null; then zsh -n "$prefix/share/zsh/vendor-completions/_contend"; fi
if command -v fish >/dev/null; then fish -n "$prefix/share/fish/vendor_completions.d/contend.fish"; fi

# The Python package finds the scenarios of its own installation. Where pybind11 is missing there is none.
packages=$prefix/lib/python3/dist-packages
# python_says TEXT: the program in Python on standard input prints the text.
python_says() {
  [[ ! -d $packages/contend ]] ||
    [[ $(PYTHONPATH=$packages PYTHONDONTWRITEBYTECODE=1 "$python" -) == "$1" ]] || fail "Python doesn't say $1"
}
python_says "4 160" <<'END'
import contend
runs = contend.run("scenarios/ada-srsf/base.yaml", until="20s", repeat=1)
print(runs.code, len(runs.jobs["jct_s"]))
END

# The project of docs/howto/plugin.md builds with what is installed, and its policy is one in a plugin and in a program.
page=$source/docs/howto/plugin.md
# file NAME: the block that the page shows below "`NAME`:".
file() {
  awk -v name="\`$1\`:" '
    index($0, name) && $0 ~ /:$/ { found = 1; next }
    found && /^```/ { if (inside) exit; inside = 1; next }
    found && inside { print; next }
    found && /^    / { started = 1; print substr($0, 5); next }
    found && started && /^$/ { print; next }
    found && started { exit }' "$page" >"$1"
  [[ -s $1 ]] || fail "the page shows no $1"
}
for name in CMakeLists.txt newest_first.cpp my_contend.cpp; do file "$name"; done
# A second plugin, whose policy starts jobs at once until it does in its third pass what its parameter says.
cat >rogue.cpp <<'END'
#include "policies/plugin.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

class Rogue final : public contend::SchedulingPolicy {
 public:
  explicit Rogue(std::int64_t deed) : deed_{deed} {}
  contend::PolicyKey key(const contend::JobView& job) const override { return job.submit.ns(); }
  void queued(const contend::JobView& job) override { waiting_.push_back(job.id); }
  contend::Time next_decision(const contend::ClusterView&) override {
    return deed_ == 6 && passes_ >= 2 ? contend::Time{} : contend::Time::never();
  }
  void pass(const contend::ClusterView&, contend::SchedulingActions& actions) override {
    if (++passes_ >= 3) {
      if (deed_ == 0) throw std::runtime_error{"what now"};
      if (deed_ == 1) std::exit(0);
      if (deed_ == 2 || deed_ == 6) return;
      if (deed_ == 4) std::raise(SIGSEGV);
      if (deed_ == 5) std::abort();
      while (deed_ == 7) std::this_thread::sleep_for(std::chrono::seconds{1});
      actions.start(contend::JobId{0U});
    }
    std::erase_if(waiting_, [&](contend::JobId job) { return actions.start(job); });
  }

 private:
  std::int64_t deed_;
  int passes_ = 0;
  std::vector<contend::JobId> waiting_;
};

constexpr contend::ParameterInfo kParameters[] = {{"deed", std::int64_t{0}, 0, 7, "throw, exit, do nothing, start twice, crash, abort, ask for ever, hang"}};

void register_rogue() {
  contend::register_policy(contend::PolicyRow<contend::SchedulingPolicy>{
      .name = "rogue",
      .summary = "fails",
      .source = "a test",
      .parameters = kParameters,
      .make = [](const contend::Parameters& parameters,
                 const contend::PolicyContext&) -> std::unique_ptr<contend::SchedulingPolicy> {
        return std::make_unique<Rogue>(parameters.get<std::int64_t>("deed"));
      }});
}

}  // namespace

CONTEND_PLUGIN(register_rogue)
END
{ cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS="-Wall -Wextra -Wpedantic -Werror" \
    -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" && cmake --build build; } >"$place/log" 2>&1 ||
  { cat "$place/log" >&2; fail "the project doesn't build"; }
# One line builds a plugin by pkg-config.
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
# shellcheck disable=SC2046  # flags are words
"$compiler" -Wall -Wextra -Wpedantic -Werror -shared -fPIC $(pkg-config --cflags contend) rogue.cpp -o build/rogue.so
run=(run scenarios/ada-srsf/base.yaml --repeat 1 -q --set 'workload.generate.iterations=[10, 20]'
     --set policies.placement=first-fit)
newest=(--set 'policies.scheduling={policy: newest-first, strict: true}')
"$program" --plugin build/newest_first.so "${run[@]}" "${newest[@]}" -o plugin
CONTEND_PLUGIN=build/newest_first.so "$program" "${run[@]}" "${newest[@]}" -o variable
CONTEND_SHARE=$prefix/share/contend build/my_contend "${run[@]}" "${newest[@]}" -o own
"$program" "${run[@]}" --set policies.scheduling=fifo -o fifo
cmp plugin/jobs.csv own/jobs.csv
cmp plugin/jobs.csv variable/jobs.csv
! cmp -s plugin/jobs.csv fifo/jobs.csv || fail "the policy of the plugin decides as fifo does"
python_says "the same bytes" <<'END'
import contend, pathlib
contend.load_plugin("build/newest_first.so")
runs = contend.run("scenarios/ada-srsf/base.yaml", repeat=1, set={
    "workload.generate.iterations": [10, 20], "policies.placement": "first-fit",
    "policies.scheduling": {"policy": "newest-first", "strict": True}})
same = runs.bytes_of("jobs") == pathlib.Path("plugin/jobs.csv").read_bytes()
print("the same bytes" if same else "other bytes")
END
python_says "build/newest_first.so True" <<'END'
import contend
contend.load_plugin("build/newest_first.so")
try:
    contend.load_plugin("build/newest_first.so")
except contend.InputError as error:
    print(error.complaints[0].file, "there is one of that name" in error.complaints[0].reason)
END
[[ $(build/my_contend list policies) == *newest-first* ]] || fail "the policy isn't listed"
# A policy of a plugin that fails, whatever it does: exit code 6, a sentence, and results until then.
printf 'job_id,submit_s,gpus,duration_s\na,0,1,10\nb,20,1,10\nc,40,1,10\n' >three.csv
printf 'schema_version: 2\ncluster: {servers: 1, gpus_per_server: 4}\nworkload: {jobs: three.csv}\n' >three.yaml
# fails DEED TEXT
fails() {
  local code=0
  "$program" --plugin build/rogue.so run three.yaml -q -o "rogue$1" \
    --set "policies.scheduling={policy: rogue, deed: $1}" >"$place/log" 2>&1 || code=$?
  [[ $code == 6 && $(<"$place/log") == *"$2"* ]] || { cat "$place/log" >&2; fail "deed $1 ends with $code"; }
}
fails 0 "scheduling policy \`rogue\` threw an exception: what now; the results end at "
fails 1 "scheduling policy \`rogue\` called exit(); the results end at 40 s"
fails 4 "scheduling policy \`rogue\` used a bad address (SIGSEGV); the results end at 40 s"
fails 5 "scheduling policy \`rogue\` called abort(); the results end at 40 s"
CONTEND_POLICY_TIMEOUT=0.5 fails 7 "scheduling policy \`rogue\` didn't answer within 0.5 s; the results end at 40 s"
fails 6 "scheduling policy \`rogue\`: asked for a pass that is not later than now"
fails 2 "because nothing can happen any more: 4 GPUs are free, 1 job waits, first \`c\`"
fails 3 "scheduling policy \`rogue\`: job \`a\` can't be started at "
for deed in 0 1 2 3 4 5 6 7; do
  grep -q '"exit_state": "policy failed"' "rogue$deed/manifest.json" || fail "deed $deed leaves no marked results"
  grep -q '^a,' "rogue$deed/jobs.csv" || fail "deed $deed leaves no jobs"
done
# refused TEXT WORDS...: the program says so, and its exit code is 3.
refused() {
  local code=0
  "$program" "${@:2}" >"$place/log" 2>&1 || code=$?
  if ((code != 3)) || ! grep -qF -- "$1" "$place/log"; then
    cat "$place/log" >&2
    fail "expected exit code 3 and '$1', got $code"
  fi
}
refused "expected one of" "${run[@]}" "${newest[@]}"
refused "there is one of that name" --plugin build/newest_first.so --plugin=./build/newest_first.so list policies
refused "can't be loaded as a plugin" --plugin nothing.so list policies
echo 'int x;' | "$compiler" -shared -fPIC -x c++ - -o none.so
refused "is no plugin of Contend" --plugin none.so list policies
"$compiler" -std=c++20 -shared -fPIC -I"$prefix/include/contend" -DCONTEND_VERSION=0.0.7 newest_first.cpp -o old.so
version=$("$program" --version | sed -n 's/^contend \([^ ]*\).*/\1/p')
refused "was compiled for Contend 0.0.7, and this is Contend $version" --plugin old.so list policies

# The Debian package holds what an installation does, below /usr.
if command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null; then
  (cd "$place" && cpack --config "$build/CPackConfig.cmake" -B "$place/packages" >log 2>&1) || { cat "$place/log" >&2; exit 1; }
  package=$(echo "$place"/packages/contend_*.deb)
  for each in "$place"/packages/*.deb; do dpkg-deb -x "$each" "$place/unpacked"; done
  packed=$(cd "$place/unpacked/usr" && find . -type f | sort)
  [[ $packed == "$(cd "$prefix" && find . -type f | sort)" ]] || fail "the packages hold other files than an installation"
  [[ $(dpkg-deb -f "$package" Depends) == *libyaml-cpp* ]] || fail "the package names no libraries that it needs"
  "$place/unpacked/usr/bin/contend" show scenarios/ada-srsf/base.yaml >/dev/null
fi
echo "install_test: ok, $count scenarios"

#!/usr/bin/env bash
# Adds a policy that compiles and runs, for you to change: its file in policies/KIND/, its line in policies/list.def and
# a test that fails until you have replaced it. The skeletons are in scripts/new_policy/.
#   scripts/new_policy.sh KIND NAME
# KIND: scheduling, placement, communication, fusion, compression or pipeline.
# NAME: as scenarios will write it: lower case letters, digits and single hyphens, a letter first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

refuse() {
  echo "new_policy.sh: $1" >&2
  exit 2
}

if (($# != 2)); then
  echo "usage: new_policy.sh KIND NAME, for example: new_policy.sh communication size-limit" >&2
  exit 2
fi
kind=$1 name=$2
case $kind in
  scheduling) key=policies.scheduling ;;
  placement) key=policies.placement ;;
  communication) key=policies.communication ;;
  fusion | compression) key=overlap.$kind ;;
  pipeline) key= ;;
  *) refuse "there is no kind '$kind': the kinds are scheduling, placement, communication, fusion, compression and pipeline" ;;
esac
if [[ ! $name =~ ^[a-z][a-z0-9]*(-[a-z0-9]+)*$ ]]; then
  refuse "'$name' is not a name: it takes lower case letters, digits and single hyphens, and begins with a letter"
fi

identifier=${name//-/_}
function=${identifier}_$kind
class=
for word in ${name//-/ } "$kind"; do class+=${word^}; done
policy=policies/$kind/$identifier.cpp
case $kind in
  fusion | compression | pipeline) test=tests/policies/$kind/${identifier}_test.cpp ;;
  *) test=tests/policies/${kind}_${identifier}_test.cpp ;;
esac

list=policies/list.def
if grep -qx "${kind^^}($identifier)" "$list"; then refuse "the $kind policy '$name' exists already"; fi
for file in "$policy" "$test"; do
  if [[ -e $file ]]; then refuse "the file $file exists already: choose another name"; fi
done

# fill TEMPLATE FILE
fill() {
  sed -e "s/@NAME@/$name/g" -e "s/@CLASS@/$class/g" -e "s/@FUNCTION@/$function/g" "scripts/new_policy/$1" >"$2"
}
fill "$kind.cpp.in" "$policy"
fill "${kind}_test.cpp.in" "$test"
if command -v clang-format-14 >/dev/null; then clang-format-14 -i "$policy" "$test"; fi
# The new line goes after the last one of its kind.
sed -i "$(grep -n "^${kind^^}(" "$list" | tail -n 1 | cut -d: -f1)a ${kind^^}($identifier)" "$list"

if [[ $kind == pipeline ]]; then
  describe="docs/models/pipeline.md                   has a table of schedules, where you add it"
else
  describe="scripts/generate_docs.sh                  describes it in the reference page and the schema"
fi
cat <<END
$policy: the policy. Describe it, cite paper and section, and replace the skeleton.
$list: has the line ${kind^^}($identifier)
$test: a test that fails until you have replaced it.

Next:
  cmake --preset release && cmake --build --preset release --target contend test_policies
  build/release/contend list policies       shows the policy${key:+; in a scenario its key is $key}
  $describe
  build/release/tests/test_policies         must pass
  scripts/test.sh --all                     every check that a merge requires
docs/howto/add-a-policy.md explains each step.
END

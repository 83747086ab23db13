#!/usr/bin/env python3
"""Compares predicted layer times with training steps that scripts/measure_training_steps.py measured on the same GPU.

  scripts/compare_training_steps.py steps.json gpu.yaml --contend build/release/contend
  scripts/compare_training_steps.py steps.json gpu.yaml --json table.json

Prints a Markdown table: the median step; as `contend` predicts it from the profile, forward and backward of all layers;
the optimiser's step, straight between its samples in the profile; the ratio of their sum to the measurement; the error
that the prediction of the layers expects of itself; and what share of them is extrapolated. The loss and the casts of
autocast are in no column: steps of `--layers-only` have neither.
Exit code 1 if a case could not be predicted.
"""

import argparse
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile


def optimiser_ms(profile_text, case):
    """Milliseconds of the optimiser's kernel over all parameters; None if the profile has too few samples."""
    op = case.get("optimizer", "").split(" ")[0].rstrip(",")
    op = {"sgd": "sgd_fused", "adam": "adam_fused"}.get(op)
    table = re.search(rf"- op: {op}\n(?:    .*\n)*?    samples:\n((?:      - .*\n)+)", profile_text) if op else None
    if not table or "parameters" not in case:
        return None
    points = sorted((int(line[0]), float(line[1])) for line in re.findall(r"\[(\d+), ([^,]+),", table[1]))
    below = [point for point in points if point[0] <= case["parameters"]]
    above = [point for point in points if point[0] > case["parameters"]]
    if not below:
        return None
    if not above:  # beyond the largest, at its rate
        return 1e3 * below[-1][1] * case["parameters"] / below[-1][0]
    (x0, y0), (x1, y1) = below[-1], above[0]
    share = math.log(case["parameters"] / x0) / math.log(x1 / x0)
    return 1e3 * y0 * (y1 / y0) ** share


def predict(contend, profile, case):
    """Milliseconds of the layers, expected error and extrapolated share (in percent), or the error. A case that has a
    `part` is of the layers whose names begin with it."""
    lines = ["schema_version: 2", "overlap: {training: step}", "training:", "  step:", f"    model: {case['model']}",
             f"    batch: {case['batch']}", f"    dtype: {case['numbers']}",
             f"    device: {{profile: {json.dumps(str(profile))}}}"]
    if case.get("sequence"):
        lines.append(f"    sequence: {case['sequence']}")
    if case.get("attention") == "fused":
        lines.append("    attention: flash")
    with tempfile.TemporaryDirectory() as folder:
        scenario = pathlib.Path(folder) / "step.yaml"
        scenario.write_text("\n".join(lines) + "\n", encoding="utf-8")
        done = subprocess.run([contend, "show", str(scenario), "--layers", "--json"], capture_output=True, text=True,
                              check=False)
    if done.returncode != 0:
        return None, (done.stderr.strip().splitlines() or ["no times"])[0]
    found = [each for each in json.loads(done.stdout)["layers"] if each["layer"].startswith(case.get("part", ""))]
    parameters = sum(each["parameters"] for each in found)
    if case.get("parameters", parameters) != parameters:
        return None, f"the networks differ: {case['parameters']} parameters were measured, {parameters} are predicted"
    seconds = [each["forward_s"] + each["backward_s"] for each in found]
    beyond = sum(each for each, layer in zip(seconds, found) if layer["basis"] == "extrapolated")
    error = sum(each * layer["relative_error"] for each, layer in zip(seconds, found))
    return {"ms": 1e3 * sum(seconds), "error": 100 * error / sum(seconds), "extrapolated": 100 * beyond / sum(seconds)}, None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", help="JSON of scripts/measure_training_steps.py")
    parser.add_argument("profile", help="profile of `contend calibrate`")
    parser.add_argument("--contend", default="build/release/contend", help="path of the program")
    parser.add_argument("--json", help="also write the rows to this file")
    arguments = parser.parse_args()
    steps = json.loads(pathlib.Path(arguments.steps).read_text(encoding="utf-8"))
    profile = pathlib.Path(arguments.profile).resolve()
    profile_text = profile.read_text(encoding="utf-8")
    rows, failed = [], False
    print(f"{steps['device']['name']}: predicted by {profile.name}\n")
    print("| network | batch | numbers | measured [ms] | layers [ms] | optimiser [ms] | ratio | expected error "
          "| extrapolated |")
    print("|---|--:|---|--:|--:|--:|--:|--:|--:|")
    for case in steps["cases"]:
        head = f"| {case['model']} | {case['batch']} | {case['numbers']} |"
        if "skipped" in case:
            print(f"{head} - | - | - | - | - | {case['skipped']} |")
            continue
        head += f" {case['median_ms']:.2f} |"
        found, fault = predict(arguments.contend, profile, case)
        if found is None:
            failed = True
            print(f"{head} - | - | - | - | {fault} |")
            continue
        optimiser = optimiser_ms(profile_text, case)
        ratio = (found["ms"] + (optimiser or 0)) / case["median_ms"]
        error = "-" if found["error"] is None else f"{found['error']:.1f}%"
        update = "-" if optimiser is None else f"{optimiser:.2f}"
        print(f"{head} {found['ms']:.2f} | {update} | {ratio:.3f} | {error} | {found['extrapolated']:.0f}% |")
        rows.append({**case, "layers_ms": found["ms"], "optimiser_ms": optimiser, "ratio": ratio,
                     "expected_error_percent": found["error"], "extrapolated_percent": found["extrapolated"]})
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps({"device": steps["device"], "rows": rows}, indent=1),
                                                encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

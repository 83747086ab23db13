#!/usr/bin/env python3
"""Makes the study of docs/validation/mixed-cluster.md from a trace of Gavel's authors, and its table and figure from results.

    mixed_cluster_study.py make TRACE THROUGHPUTS FOLDER [DAYS]
    contend sweep FOLDER/study.yaml -o mixed.sqlite && contend results mixed.sqlite --rows --csv mixed.csv
    mixed_cluster_study.py draw mixed.csv FIGURE.svg

TRACE and THROUGHPUTS are traces/msr/seed=0/0e4a51.trace and simulation_throughputs.json of stanford-futuredata/gavel
(MIT licence): submissions, durations and GPUs of a virtual cluster of Philly, with models drawn by Gavel's authors, and
iterations a second on three types. `make` takes the jobs of the first DAYS (28) days. Left out, and counted, are jobs of
models that were not measured on their number of GPUs. A job may have 1 to 8 GPUs, as far as its model was measured. Its
deadline is 1.5, 3 or 10 times its duration on V100 GPUs after its submission, by a checksum of its number.
Standard library only.
"""

import csv
import json
import pathlib
import sys
import zlib

TYPES = ("k80", "p100", "v100")
SLACKS = (1.5, 3, 10)
DAY_S = 86400
SCENARIO = pathlib.Path(__file__).resolve().parent.parent / "scenarios" / "types" / "mixed-cluster.yaml"
COLUMNS = (  # of results, as the table calls them, and how it prints them
    ("avg_jct_s", "mean JCT [h]", lambda x: f"{x / 3600:.1f}"),
    ("p95_jct_s", "p95 [h]", lambda x: f"{x / 3600:.0f}"),
    ("makespan_s", "makespan [d]", lambda x: f"{x / DAY_S:.1f}"),
    ("avg_rho", "mean rho", lambda x: f"{x:.2f}"),
    ("max_rho", "worst rho", lambda x: f"{x:.1f}"),
    ("unfair_share", "unfair [%]", lambda x: f"{100 * x:.0f}"),
    ("jain_index", "Jain", lambda x: f"{x:.2f}"),
    ("deadlines_met", "deadlines met [%]", lambda x: f"{100 * x:.0f}"),
    ("cost", "cost", lambda x: f"{x:.0f}"),
    ("restarts", "restarts", lambda x: f"{x:.0f}"),
)


def rate(table, kind, model, gpus):
    """Iterations a second, or 0 where they were not measured or do not fit."""
    return table.get(kind, {}).get(f"('{model}', {gpus})", {}).get("null", 0)


def make(trace, throughputs, folder, days=28):
    table = json.loads(pathlib.Path(throughputs).read_text())
    jobs, left_out, sizes = [], 0, {}
    rows = [line.rstrip("\n").split("\t") for line in open(trace)]
    for number, (model, _, _, _, steps, submit, gpus) in enumerate(rows):
        if float(submit) >= days * DAY_S:
            continue
        if model not in sizes:
            sizes[model] = [g for g in (1, 2, 4, 8) if any(rate(table, kind, model, g) > 0 for kind in TYPES)]
        fastest = rate(table, "v100", model, gpus)
        if int(gpus) not in sizes[model] or fastest == 0:
            left_out += 1
            continue
        slack = SLACKS[zlib.crc32(str(number).encode()) % len(SLACKS)]
        deadline = float(submit) + slack * float(steps) / fastest
        jobs.append((f"job-{number}", float(submit), model, gpus, sizes[model][0], sizes[model][-1], steps, f"{deadline:.3f}"))
    jobs.sort(key=lambda job: job[1])
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "jobs.csv", "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow("job_id submit_s model gpus min_gpus max_gpus iterations deadline_s".split())
        writer.writerows(jobs)
    with open(folder / "rates.csv", "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow("model type gpus iterations_per_s spread_iterations_per_s".split())
        for model in sorted(sizes):
            for gpus in sizes[model]:
                for kind in TYPES:
                    together = rate(table, kind, model, gpus)
                    spread = rate(table, kind + "_unconsolidated", model, gpus)
                    writer.writerow((model, kind, gpus, together, min(together, spread) or together))
    (folder / "study.yaml").write_text(
        f"schema_version: 2\ninclude: {SCENARIO}\nname: mixed-cluster-philly\n"
        "workload: {jobs: jobs.csv, throughputs: rates.csv}\n")
    print(f"{folder}: {len(jobs)} jobs; {left_out} left out, whose models were not measured on so many GPUs")


def name_of(policy):
    return policy.split()[0] + (", 1 h" if "round_s=3600" in policy else "")


def draw(results, figure):
    rows = list(csv.DictReader(open(results)))
    names = [name_of(row["policies_scheduling"]) for row in rows]
    print("| policy | " + " | ".join(title for _, title, _ in COLUMNS) + " |")
    print("|---|" + "--:|" * len(COLUMNS))
    for name, row in zip(names, rows):
        print(f"| `{name}` | " + " | ".join(show(float(row[key])) for key, _, show in COLUMNS) + " |")
    points = [(float(row["avg_jct_s"]) / 3600, 100 * float(row["unfair_share"])) for row in rows]
    pathlib.Path(figure).write_text(scatter(names, points))


def ticks(most):
    """At most nine round numbers from 0 on."""
    step = next(digit * 10.0**power for power in range(-6, 7) for digit in (1, 2, 5) if 8 * digit * 10.0**power >= most)
    return [i * step for i in range(int(most / step) + 1)]


def scatter(names, points, width=640, height=400, left=60, bottom=50, top=20, right=110):
    """Mean completion time across, unfair jobs upwards."""
    most_x, most_y = 1.1 * max(x for x, _ in points), 1.1 * max(y for _, y in points)
    across = lambda x: left + x / most_x * (width - left - right)
    down = lambda y: height - bottom - y / most_y * (height - bottom - top)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="#fff"/>',
           f'<path d="M{left} {top}V{height - bottom}H{width - right}" fill="none" stroke="#444"/>',
           f'<text x="{(left + width - right) / 2}" y="{height - 10}" text-anchor="middle">mean completion time [h]</text>',
           f'<text x="15" y="{(top + height - bottom) / 2}" text-anchor="middle" '
           f'transform="rotate(-90 15 {(top + height - bottom) / 2})">unfair jobs [%]</text>']
    for x in ticks(most_x):
        out.append(f'<text x="{across(x):.1f}" y="{height - bottom + 18}" text-anchor="middle">{x:g}</text>')
    for y in ticks(most_y):
        out.append(f'<text x="{left - 6}" y="{down(y) + 4:.1f}" text-anchor="end">{y:g}</text>')
    taken = [(across(x) - 5, down(y) - 5, across(x) + 5, down(y) + 5) for x, y in points]
    for name, (x, y) in zip(names, points):
        at, line, long = across(x), down(y), 6.8 * len(name)
        out.append(f'<circle cx="{at:.1f}" cy="{line:.1f}" r="4" fill="#0072B2"/>')
        # To the right, to the left, above or below: the first place where nothing is yet.
        places = [(at + 8 + dx, line + 4 + dy) for dy in (0, -13, 13) for dx in (0, -16 - long)]
        free = [(u, v) for u, v in places
                if not any(u < r and l < u + long and v - 10 < b and t < v + 3 for l, t, r, b in taken)]
        u, v = (free or places)[0]
        taken.append((u, v - 10, u + long, v + 3))
        out.append(f'<text x="{u:.1f}" y="{v:.1f}">{name}</text>')
    return "\n".join(out) + "\n</svg>\n"


def main():
    arguments = sys.argv[1:]
    if len(arguments) in (4, 5) and arguments[0] == "make":
        make(*arguments[1:4], *map(int, arguments[4:]))
    elif len(arguments) == 3 and arguments[0] == "draw":
        draw(*arguments[1:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()

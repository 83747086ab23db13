#!/usr/bin/env python3
"""Draws what contention-aware admission saves for jobs that overlap, and prints the tables of the page about them.

    contend results CONTENTION.sqlite --rows --csv contention.csv
    contend results FLOW.sqlite --rows --csv flow.csv
    plot_overlapping_jobs.py contention.csv flow.csv FIGURE.svg

`contend sweep` writes the stores for scenarios/overlapping-jobs/short-jobs.yaml and short-jobs-flow.yaml. A ratio is
the geometric mean of the ratios of the average completion times, job mix by job mix, with its 95% Student-t interval.
Standard library only.
"""

import csv
import math
import pathlib
import re
import statistics
import sys

from plot_ada_dual import T_975, marker

TRAININGS = {"bsp": "one message", "wfbp": "WFBP", "mg-wfbp": "MG-WFBP", "dear": "DeAR", "acp-sgd": "ACP-SGD"}
OPEN = "srsf ways=160"  # as many jobs as there are
POLICIES = {OPEN: "no admission", "ada-dual": "AdaDUAL", "srsf": "SRSF(1)"}
# Okabe and Ito's palette.
LINES = {"srsf": ("SRSF(1)", "#0072B2", "square"), "ada-dual": ("AdaDUAL", "#D55E00", "circle")}


def training_of(row):
    text = row["training_default"]
    return "acp-sgd" if "acp-sgd" in text else re.search(r"fusion: \{policy: ([a-z-]+)", text)[1]


def network_of(row):
    fast = row["network_nic"] == "25Gbps" if "network_nic" in row else row["network_beta"] == "0.3424ms/MiB"
    return "25 GbE" if fast else "10 GbE"


def read(path):
    """{network: {policy: {training: {seed: average completion time}}}}"""
    found = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            of_policies = found.setdefault(network_of(row), {}).setdefault(row["policies_communication"], {})
            of_policies.setdefault(training_of(row), {})[row["seed"]] = float(row["avg_jct_s"])
    return found


def ratio(times, baseline):
    """(mean, low, high) of times over baseline, seed by seed."""
    logs = [math.log(value / baseline[seed]) for seed, value in times.items()]
    center = statistics.fmean(logs)
    t = T_975[len(logs) - 2] if len(logs) - 1 <= len(T_975) else 1.96
    half = t * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(center), math.exp(center - half), math.exp(center + half)


def tables(name, networks):
    for network, policies in networks.items():
        trainings = [each for each in TRAININGS if each in policies[OPEN]]
        yield f"\n### {name}, {network}\n"
        yield "| | " + " | ".join(TRAININGS[each] for each in trainings) + " |"
        yield "|---|" + "---|" * len(trainings)
        for key, title in POLICIES.items():
            cells = []
            for each in trainings:
                cell = f"{statistics.fmean(policies[key][each].values()):.1f}"
                if each != "bsp":
                    cell += " ({:.2f} [{:.2f}, {:.2f}])".format(*ratio(policies[key][each], policies[key]["bsp"]))
                cells.append(cell)
            yield f"| {title} | " + " | ".join(cells) + " |"
        for key in ("ada-dual", "srsf"):
            cells = ["{:.2f} [{:.2f}, {:.2f}]".format(*ratio(policies[key][each], policies[OPEN][each]))
                     for each in trainings]
            yield f"| {POLICIES[key]} / no admission | " + " | ".join(cells) + " |"


class Panel:
    WIDTH, HEIGHT = 370, 190

    def __init__(self, left, top, low, high):
        self.left, self.top, self.low, self.high = left, top, low, high

    def y(self, value):
        return self.top + (self.high - value) / (self.high - self.low) * self.HEIGHT

    def draw(self, title, policies):
        trainings = [each for each in TRAININGS if each in policies[OPEN]]
        bottom = self.top + self.HEIGHT
        yield f'<text x="{self.left}" y="{self.top - 10}" font-weight="bold">{title}</text>'
        tick = self.low
        while tick <= self.high + 1e-9:
            y = self.y(tick)
            stroke = "#444" if abs(tick - 1) < 1e-9 else "#ddd"
            yield f'<line x1="{self.left}" x2="{self.left + self.WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="{stroke}"/>'
            yield f'<text x="{self.left - 8}" y="{y + 4.5:.1f}" text-anchor="end">{tick:.1f}</text>'
            tick += 0.1
        step = self.WIDTH / len(trainings)
        for i, each in enumerate(trainings):
            x = self.left + step * (i + 0.5)
            yield f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{TRAININGS[each]}</text>'
            for shift, (key, (_, color, shape)) in zip((-9, 9), LINES.items()):
                mean, low, high = (self.y(value) for value in ratio(policies[key][each], policies[OPEN][each]))
                yield f'<path d="M{x + shift:.1f} {low:.1f}V{high:.1f}" stroke="{color}" stroke-width="1.8"/>'
                yield marker(x + shift, mean, color, shape)


def figure(found):
    drawn = [(f"{name}, {network}", policies) for name, networks in found.items()
             for network, policies in networks.items()]
    bounds = [value for _, policies in drawn for key in LINES for each in policies[key]
              for value in ratio(policies[key][each], policies[OPEN][each])]
    low, high = math.floor(min(bounds) * 10) / 10, max(1.1, math.ceil(max(bounds) * 10) / 10)
    seeds = len(next(iter(drawn[0][1][OPEN].values())))
    width, height = 880, 600
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#222" role="img">',
        "<title>Average completion time with admission of messages, relative to none</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        '<text x="52" y="30" font-size="16" font-weight="bold">Average JCT with admission over that without</text>',
        f'<text x="{width - 20}" y="30" text-anchor="end" fill="#555">{seeds} job mixes, 95% intervals, LWF-1</text>',
    ]
    for index, (title, policies) in enumerate(drawn):
        panel = Panel(52 + index % 2 * (Panel.WIDTH + 62), 78 + index // 2 * (Panel.HEIGHT + 64), low, high)
        parts += panel.draw(title, policies)
    for number, (label, color, shape) in enumerate(LINES.values()):
        x = 52 + 130 * number
        parts.append(marker(x + 6, height - 16, color, shape))
        parts.append(f'<text x="{x + 18}" y="{height - 11.5}">{label}</text>')
    parts.append("</svg>\n")
    return "\n".join(parts)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    found = {"contention": read(sys.argv[1]), "flow": read(sys.argv[2])}
    pathlib.Path(sys.argv[3]).write_text(figure(found))
    for name, networks in found.items():
        print("\n".join(tables(name, networks)))


if __name__ == "__main__":
    main()

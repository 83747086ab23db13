#!/usr/bin/env python3
"""Draws the gain of AdaDUAL over SRSF(1) and SRSF(2) against eta / beta, and prints it as a Markdown table.

    plot_ada_dual.py SWEEP_FOLDER FIGURE.svg

SWEEP_FOLDER holds MODELS@ETA.json, the output of `contend run --json` for the scenarios srsf-1, srsf-2 and ada-srsf
(scripts/ada_srsf_study.sh). A gain is the share of the average completion time that is saved: 1 minus the geometric
mean of the ratios seed by seed, with its 95% Student-t interval. Standard library only.
"""

import json
import math
import pathlib
import statistics
import sys

BETA = 0.856  # ms/MiB
MEASURED_ETA = 0.235  # fit for 10 GbE
MINUS = "\u2212"
BASELINES = {"srsf-1": "SRSF(1)", "srsf-2": "SRSF(2)"}

# Okabe and Ito's palette, told apart by people of any colour vision; shapes tell the lines apart in grey, too.
LINES = {
    "resnet50,vgg16": ("ResNet-50, VGG-16", "#D55E00", "circle"),
    "resnet50,inception-v3,vgg16": ("ResNet-50, Inception-V3, VGG-16", "#0072B2", "square"),
    "vgg16,resnet50,inception-v3,lstm": ("all four (the published mix)", "#000000", "diamond"),
    "resnet50,inception-v3": ("ResNet-50, Inception-V3", "#009E73", "triangle"),
}

# 0.975 quantiles of Student's t for 1 to 30 degrees of freedom.
T_975 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
         2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042]


def saving(scenarios, baseline):
    """The gain in per cent: (mean, low, high)."""
    averages = {s["scenario"]: {r["seed"]: r["avg_jct_s"] for r in s["replicas"]} for s in scenarios}
    logs = [math.log(averages["ada-srsf"][seed] / value) for seed, value in averages[baseline].items()]
    center = statistics.fmean(logs)
    t = T_975[len(logs) - 2] if len(logs) - 1 <= len(T_975) else 1.96
    half = t * statistics.stdev(logs) / math.sqrt(len(logs))
    return tuple(100 * (1 - math.exp(x)) for x in (center, center + half, center - half))


def read(folder):
    """{baseline: {models: [(eta / beta, mean, low, high)]}}"""
    gains = {baseline: {models: [] for models in LINES} for baseline in BASELINES}
    for models in LINES:
        files = folder.glob(f"{models}@*.json")
        for eta, file in sorted((float(f.name[len(models) + 1 : -len(".json")]), f) for f in files):
            scenarios = json.loads(file.read_text())["scenarios"]
            for baseline in BASELINES:
                gains[baseline][models].append((eta / BETA, *saving(scenarios, baseline)))
    return gains


def table(gains):
    etas = [x for x, *_ in next(iter(gains["srsf-1"].values()))]
    yield "| saved over | models \\ eta/beta | " + " | ".join(f"{x:.2f}" for x in etas) + " |"
    yield "|---|---|" + "--:|" * len(etas)
    for baseline, name in BASELINES.items():
        for models, (label, *_) in LINES.items():
            cells = [f"{mean:.1f}% [{low:.1f}, {high:.1f}]" for _, mean, low, high in gains[baseline][models]]
            yield f"| {name} | {label} | " + " | ".join(cells) + " |"


class Panel:
    """One set of axes. Data run from 0 to 1 across and from `low` to `high` per cent up."""

    WIDTH, HEIGHT, TOP = 360, 270, 78

    def __init__(self, left, low, high):
        self.left, self.low, self.high = left, low, high

    def x(self, value):
        return self.left + 12 + value * (self.WIDTH - 24)

    def y(self, value):
        return self.TOP + (self.high - value) / (self.high - self.low) * self.HEIGHT

    def axes(self, title, with_label):
        bottom = self.TOP + self.HEIGHT
        yield f'<text x="{self.x(0.5):.1f}" y="{self.TOP - 14}" text-anchor="middle" font-weight="bold">{title}</text>'
        for tick in range(self.low, self.high + 1, 5):
            y = self.y(tick)
            stroke = "#444" if tick == 0 else "#ddd"
            yield f'<line x1="{self.left}" x2="{self.left + self.WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="{stroke}"/>'
            label = f"{tick}%".replace("-", MINUS)
            yield f'<text x="{self.left - 8}" y="{y + 4.5:.1f}" text-anchor="end">{label}</text>'
        for tick in (0, 0.25, 0.5, 0.75, 1):
            x = self.x(tick)
            yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 5}" stroke="#444"/>'
            yield f'<text x="{x:.1f}" y="{bottom + 20}" text-anchor="middle">{tick:g}</text>'
        yield f'<text x="{self.x(0.5):.1f}" y="{bottom + 42}" text-anchor="middle">eta / beta</text>'
        x = self.x(MEASURED_ETA / BETA)
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{self.TOP}" y2="{bottom}" stroke="#888" stroke-dasharray="4 4"/>'
        if with_label:
            yield f'<text x="{x + 6:.1f}" y="{self.TOP + 14}" fill="#555">10 GbE</text>'

    def line(self, points, color, shape, shift):
        """A curve with its intervals; `shift` pixels keep intervals of several curves apart."""
        at = [(self.x(x) + shift, self.y(mean), self.y(low), self.y(high)) for x, mean, low, high in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y, *_ in at)
        yield f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.8"/>'
        for x, y, low, high in at:
            yield f'<path d="M{x:.1f} {low:.1f}V{high:.1f}M{x - 3:.1f} {low:.1f}h6M{x - 3:.1f} {high:.1f}h6" ' \
                  f'stroke="{color}" fill="none"/>'
            yield marker(x, y, color, shape)


def marker(x, y, color, shape):
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.2" fill="{color}"/>'
    d = {"square": "m-4 -4h8v8h-8z", "diamond": "m0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z",
         "triangle": "m0 -5.5l5 9h-10z"}[shape]
    return f'<path d="M{x:.1f} {y:.1f}{d}" fill="{color}"/>'


def figure(gains, seeds):
    values = [v for lines in gains.values() for points in lines.values() for point in points for v in point[2:]]
    low, high = 5 * math.floor(min(values) / 5), 5 * math.ceil(max(values) / 5)
    width, height = 880, 468
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#222" role="img">',
        "<title>Average completion time saved by AdaDUAL over SRSF(1) and SRSF(2)</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="62" y="30" font-size="16" font-weight="bold">Average JCT that AdaDUAL saves</text>',
        f'<text x="{width - 20}" y="30" text-anchor="end" fill="#555">{seeds} seeds a point, 95% intervals</text>',
    ]
    for index, (baseline, name) in enumerate(BASELINES.items()):
        panel = Panel(62 + index * (Panel.WIDTH + 74), low, high)
        parts += panel.axes(f"over {name}", index == 0)
        for number, (models, (_, color, shape)) in enumerate(LINES.items()):
            parts += panel.line(gains[baseline][models], color, shape, 2 * number - 3)
    for number, (label, color, shape) in enumerate(LINES.values()):
        x, y = (62, 496)[number % 2], height - 40 + 22 * (number // 2)
        parts.append(f'<line x1="{x}" x2="{x + 26}" y1="{y}" y2="{y}" stroke="{color}" stroke-width="1.8"/>')
        parts.append(marker(x + 13, y, color, shape))
        parts.append(f'<text x="{x + 32}" y="{y + 4.5}">{label}</text>')
    parts.append("</svg>\n")
    return "\n".join(parts)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    gains = read(folder)
    first = json.loads(next(folder.glob("*.json")).read_text())
    pathlib.Path(sys.argv[2]).write_text(figure(gains, len(first["scenarios"][0]["replicas"])))
    print("\n".join(table(gains)))


if __name__ == "__main__":
    main()

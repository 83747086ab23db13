#!/usr/bin/env python3
"""Draws a few seconds of a timeline as an SVG: a lane for each GPU, a lane for each network interface.

  build/release/contend run docs/images/timeline.yaml -o out --timeline out/timeline.json
  scripts/plot_timeline.py out/timeline.json docs/images/timeline.svg --jobs out/jobs.csv --to 2

The input is what `contend run --timeline` writes (plain or .gz). A transfer of the same job and iteration on several
interfaces is one message. Servers on which nothing happens in that time are left out. Needs nothing but Python.
"""

import argparse
import csv
import gzip
import html
import json
import sys

# After Okabe and Ito: told apart with every common form of colour blindness.
PALETTE = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8C6D31", "#666666"]
WIDTH, LEFT, RIGHT = 1000, 124, 16
GPU_LANE, NIC_LANE, HELD_ROW, GAP = 22, 20, 7, 5
MICROSECONDS = 1e-6


def read_events(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return json.load(file)["traceEvents"]


class Timeline:
    """Spans by lane, times in seconds. Lanes are named like the threads of the file."""

    def __init__(self, events):
        processes = {e["pid"]: e["args"]["name"] for e in events if e.get("name") == "process_name"}
        threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
        self.gpus = {}  # server -> {lane -> [(start, end, job, operation)]}
        self.links = {}  # server -> [(start, end, job, iteration)]
        self.ready = {}  # (job, iteration) -> end of its last task
        for (pid, tid), lane in sorted(threads.items()):
            if processes[pid] != "network":
                self.gpus.setdefault(processes[pid], {})[lane] = []
        for event in events:
            if event["ph"] != "X":
                continue
            start = event["ts"] * MICROSECONDS
            end = start + event["dur"] * MICROSECONDS
            job, iteration = event["args"]["job"], event["args"]["iteration"]
            lane = threads[event["pid"], event["tid"]]
            if processes[event["pid"]] == "network":
                self.links.setdefault(lane.split("/")[0], []).append((start, end, job, iteration))
            else:
                operation = event["name"].split()[-1]
                self.gpus[processes[event["pid"]]][lane].append((start, end, job, operation))
                key = job, iteration
                self.ready[key] = max(self.ready.get(key, 0), end)

    def jobs_between(self, begin, end):
        lanes = [spans for server in self.gpus.values() for spans in server.values()] + list(self.links.values())
        return {job for spans in lanes for start, stop, job, _ in spans if stop > begin and start < end}

    def contended(self, server):
        """Intervals with at least two transfers on the interface."""
        spans = self.links.get(server, [])
        steps = sorted([(s[0], 1) for s in spans] + [(s[1], -1) for s in spans])
        active, since, found = 0, 0.0, []
        for time, change in steps:
            if active >= 2 > active + change:
                found.append((since, time))
            elif active < 2 <= active + change:
                since = time
            active += change
        return [(a, b) for a, b in found if b - a > 1e-9]


class Drawing:
    def __init__(self, begin, end, names):
        self.begin, self.end, self.names = begin, end, names
        self.items, self.y = [], 0

    def x(self, time):
        share = (min(max(time, self.begin), self.end) - self.begin) / (self.end - self.begin)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def visible(self, start, end):
        return end > self.begin and start < self.end

    def colour(self, job):
        return PALETTE[sorted(self.names).index(job) % len(PALETTE)]

    def text(self, x, y, words, size=12, anchor="start", colour="#222222", weight="normal"):
        self.items.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}" '
            f'font-weight="{weight}">{html.escape(words)}</text>'
        )

    def box(self, start, end, y, height, colour, extra="", title=""):
        x = self.x(start)
        width = max(0.6, self.x(end) - x)
        self.items.append(
            f'<rect x="{x:.2f}" y="{y:.1f}" width="{width:.2f}" height="{height}" fill="{colour}" {extra}>'
            f"<title>{html.escape(title)}</title></rect>"
        )
        return x, width


def draw_gpus(drawing, lanes):
    for lane, spans in lanes.items():
        drawing.text(LEFT - 8, drawing.y + GPU_LANE - 7, lane, anchor="end")
        drawing.items.append(
            f'<rect x="{LEFT}" y="{drawing.y}" width="{WIDTH - LEFT - RIGHT}" height="{GPU_LANE - 2}" fill="#F2F2F2"/>'
        )
        for start, end, job, operation in spans:
            if drawing.visible(start, end):
                shade = 'fill-opacity="0.62"' if operation == "forward" else ""
                title = f"{drawing.names[job]} {operation}"
                drawing.box(start, end, drawing.y, GPU_LANE - 2, drawing.colour(job), shade, title)
        drawing.y += GPU_LANE


def draw_link(drawing, timeline, server):
    """Transfers fill the lane; where two share it, each gets half. Messages held back lie above, hollow."""
    spans = [s for s in timeline.links.get(server, []) if drawing.visible(timeline.ready.get(s[2:], s[0]), s[1])]
    held = []
    for start, _, job, iteration in spans:
        ready = timeline.ready.get((job, iteration), start)
        if start - ready > 1e-9 and drawing.visible(ready, start):
            held.append((ready, start, job))
    row_ends = []  # of the last message in each row
    for ready, start, job in sorted(held):
        row = next((i for i, end in enumerate(row_ends) if end <= ready), len(row_ends))
        row_ends[row:row + 1] = [start]
        drawing.box(ready, start, drawing.y + 1.5 + row * HELD_ROW, HELD_ROW - 3, "none",
                    f'stroke="{drawing.colour(job)}" stroke-width="1.5"', f"{drawing.names[job]} held back")
    lane = drawing.y + max(1, len(row_ends)) * HELD_ROW
    drawing.text(LEFT - 8, lane + NIC_LANE - 6, "NIC", anchor="end")
    drawing.items.append(
        f'<rect x="{LEFT}" y="{lane}" width="{WIDTH - LEFT - RIGHT}" height="{NIC_LANE}" fill="#F2F2F2"/>'
    )
    cuts = sorted({t for s in spans for t in s[:2]})
    for begin, end in zip(cuts, cuts[1:]):
        if not drawing.visible(begin, end):
            continue
        active = sorted(s[2] for s in spans if s[0] <= begin and s[1] >= end)
        for i, job in enumerate(active):
            height = NIC_LANE / len(active)
            title = f"{drawing.names[job]} all-reduce"
            drawing.box(begin, end, lane + i * height, height, drawing.colour(job), "", title)
    for start, end, *_ in spans:  # a message ends where the next begins
        for time in (start, end):
            if drawing.begin < time < drawing.end:
                drawing.items.append(
                    f'<line x1="{drawing.x(time):.2f}" x2="{drawing.x(time):.2f}" y1="{lane}" y2="{lane + NIC_LANE}" '
                    'stroke="#FFFFFF" stroke-width="0.8"/>'
                )
    for begin, end in timeline.contended(server):
        if drawing.visible(begin, end):
            drawing.box(begin, end, lane + NIC_LANE + 1, 3, "#000000", "", "two transfers share the interface")
    drawing.y = lane + NIC_LANE + GAP + 3


def draw_axis(drawing, top):
    span = drawing.end - drawing.begin
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1e9) if span / s <= 12)
    tick = -(-drawing.begin // step) * step
    grid = []
    while tick <= drawing.end + 1e-9:
        x = drawing.x(tick)
        grid.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{drawing.y}" stroke="#D5D5D5" stroke-width="1"/>')
        drawing.text(x, drawing.y + 15, f"{abs(tick):.4g} s", anchor="middle", colour="#444444")
        tick += step
    drawing.items[0:0] = grid
    drawing.y += 26


def draw_legend(drawing):
    x, y = LEFT, 22
    for job, name in sorted(drawing.names.items()):
        width = 30 + 7.2 * len(name) + 26
        if x + width > WIDTH and x > LEFT:
            x, y = LEFT, y + 20
        fill = f'fill="{drawing.colour(job)}"'
        drawing.items.append(f'<rect x="{x}" y="{y - 11}" width="10" height="13" {fill} fill-opacity="0.62"/>')
        drawing.items.append(f'<rect x="{x + 10}" y="{y - 11}" width="14" height="13" {fill}/>')
        drawing.text(x + 30, y, name, size=13)
        x += width
    y += 21
    drawing.text(LEFT, y, "light: forward, full: backward or all-reduce", colour="#444444")
    hollow = 'fill="none" stroke="#444444" stroke-width="1.5"'
    drawing.items.append(f'<rect x="{LEFT + 272}" y="{y - 8}" width="26" height="6" {hollow}/>')
    drawing.text(LEFT + 304, y, "message held back by the policy", colour="#444444")
    drawing.items.append(f'<rect x="{LEFT + 514}" y="{y - 6}" width="26" height="3" fill="#000000"/>')
    drawing.text(LEFT + 546, y, "two messages share the interface: both slow down", colour="#444444")
    drawing.y = y + 16


def job_names(path, jobs):
    names = {job: f"job {job}" for job in jobs}
    if path:
        with open(path, encoding="utf-8", newline="") as file:
            for index, row in enumerate(csv.DictReader(file)):
                if index in names:
                    unit = "GPU" if row["gpus"] == "1" else "GPUs"
                    names[index] = f"{row['job_id']} ({row['model']}, {row['gpus']} {unit})"
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("timeline", help="file written by contend run --timeline")
    parser.add_argument("svg", help="picture to write")
    parser.add_argument("--jobs", help="jobs.csv of the same run, for the names of the jobs")
    parser.add_argument("--from", dest="begin", type=float, default=0.0, help="time at which the drawing starts, s (default 0)")
    parser.add_argument("--to", dest="end", type=float, default=2.0, help="time at which the drawing ends, s (default 2)")
    arguments = parser.parse_args()
    if arguments.end <= arguments.begin:
        parser.error("--to must be later than --from")

    try:
        timeline = Timeline(read_events(arguments.timeline))
        names = job_names(arguments.jobs, timeline.jobs_between(arguments.begin, arguments.end))
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"plot_timeline.py: {error}")
    if not names:
        sys.exit(f"plot_timeline.py: no operation runs between {arguments.begin:g} s and {arguments.end:g} s")
    drawing = Drawing(arguments.begin, arguments.end, names)
    draw_legend(drawing)
    legend, drawing.items = drawing.items, []
    top = drawing.y
    for server, lanes in timeline.gpus.items():
        spans = timeline.links.get(server, []) + [span for lane in lanes.values() for span in lane]
        if not any(drawing.visible(start, end) for start, end, *_ in spans):
            continue
        drawing.text(8, drawing.y + 15, server, size=13, weight="bold")
        draw_gpus(drawing, lanes)
        draw_link(drawing, timeline, server)
        drawing.y += 9
    draw_axis(drawing, top)
    with open(arguments.svg, "w", encoding="utf-8") as file:
        file.write(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {drawing.y:.0f}" width="{WIDTH}" '
            f'height="{drawing.y:.0f}" font-family="Helvetica, Arial, sans-serif">\n'
            f'<rect width="{WIDTH}" height="{drawing.y:.0f}" fill="#FFFFFF"/>\n'
        )
        file.write("\n".join(legend + drawing.items) + "\n</svg>\n")


if __name__ == "__main__":
    main()

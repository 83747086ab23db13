"""Holds the checkers against results that are wrong: each fault below must break the law that it names."""

import csv
import json
import shutil

import draw
import results as reader
import row_laws
import summary_laws
import timeline_laws
import variants

JOBS = """job_id,submit_s,gpus,model,iterations,duration_s,priority,vc,deadline_s,user
wide,0,4,,,50,0,,90,ann
urgent,10,2,,,20,5,,40,ben
train,0,2,resnet50,12,,1,,,ann
mine,5,2,,,30,2,own,,ben
small,7,1,,,8,0,quota,,ann
"""
SPEC = {"schema_version": 1, "name": "falsified", "cluster": {
            "servers": 5, "gpus_per_server": 2, "vcs": [{"name": "own", "servers": 1}, {"name": "quota", "gpus": 2}]},
        "network": {"fidelity": "contention", "nic": "10Gbps"}, "workload": {"jobs": "jobs.csv"},
        "failures": {"events": "outages.csv", "detection": "1s"}, "checkpoints": {"restart_cost": "2s"},
        "policies": {"scheduling": {"policy": "priority"}, "placement": {"policy": "spread"}}}
OUTAGES = [{"component": "server4", "down_s": "30", "up_s": "40"}]


def scenario():
    rows = list(csv.DictReader(JOBS.splitlines()))
    return draw.Scenario(0, 0, SPEC, {"jobs.csv": rows, "outages.csv": OUTAGES})


class Folder:
    """Files of results to falsify."""

    def __init__(self, path):
        self.path = path

    def edit(self, name, change):
        """Changes the rows of a table; `change` gets the list of them."""
        with (self.path / name).open(newline="", encoding="utf-8") as file:
            table = csv.DictReader(file)
            rows, columns = list(table), table.fieldnames
        change(rows)
        with (self.path / name).open("w", newline="", encoding="utf-8") as file:
            out = csv.DictWriter(file, columns, lineterminator="\n")
            out.writeheader()
            out.writerows(rows)

    def set(self, name, row, column, value):
        """Sets a field of a row; `value` may be a function of the old text."""
        def change(rows):
            rows[row][column] = value(rows[row][column]) if callable(value) else value
        self.edit(name, change)

    def add(self, name, row, column, more):
        """Adds nanoseconds to a time."""
        self.set(name, row, column, lambda text: seconds(reader.ns(text) + more))

    def events(self, change):
        """Changes the events of the timeline."""
        path = self.path.parent / "timeline.json"
        trace = json.loads(path.read_text(encoding="utf-8"), parse_float=str)
        change(trace["traceEvents"])
        path.write_text(json.dumps(trace), encoding="utf-8")

    def figure(self, name, value):
        path = self.path / "summary.json"
        summary = json.loads(path.read_text(encoding="utf-8"))
        summary["replicas"][0][name] = value
        path.write_text(json.dumps(summary), encoding="utf-8")


def seconds(time):
    return f"{time // 10 ** 9}.{time % 10 ** 9:09}"


def spans(events, job):
    """The spans of a job on GPUs."""
    return [event for event in events
            if event["ph"] == "X" and event["cat"] != "transfer" and event["args"]["job"] == job]


def doubled(events):
    events.append({**spans(events, 0)[0], "args": {"job": 3, "iteration": 0}})


def half_gang(events):
    events.remove(spans(events, 0)[0])


def elsewhere(events):
    spans(events, 4)[0].update(pid=1, tid=0)


def greedy(events):
    """Gives GPUs of the servers without an owner to the job with a quota, as many as it has not."""
    first = spans(events, 4)[0]
    for pid in (3, 4, 5):
        events.append({**first, "pid": pid})


def lost_task(events):
    events.remove([event for event in spans(events, 2) if event["args"]["iteration"] == 4][0])


# Each: what is falsified, how, and the law that it must break.
FAULTS = [
    ("a start that is shifted", lambda f: f.add("jobs.csv", 0, "start_s", 10 ** 9), "order"),
    ("a time on GPUs that is 1 ns longer", lambda f: f.add("jobs.csv", 3, "held_s", 1), "order"),
    ("a row that is missing", lambda f: f.edit("jobs.csv", lambda rows: rows.pop(1)), "everybody"),
    ("rows in another order", lambda f: f.edit("jobs.csv", lambda rows: rows.reverse()), "everybody"),
    ("a preemption too many", lambda f: f.set("jobs.csv", 3, "preemptions", "3"), "starts"),
    ("a GPU with a job too many", lambda f: f.set("gpus.csv", 0, "jobs", lambda text: int(text) + 1), "starts"),
    ("work that is missing", lambda f: f.add("jobs.csv", 4, "compute_gpu_s", -10 ** 9), "work"),
    ("an iteration that is missing", lambda f: f.set("jobs.csv", 2, "iterations_done", "11"), "work"),
    ("a job on more servers than GPUs", lambda f: f.set("jobs.csv", 4, "servers", "2"), "placed"),
    ("a GPU that is busy 1 ns longer", lambda f: f.add("gpus.csv", 9, "busy_s", 1), "busy"),
    ("a GPU that is busy longer than the run", lambda f: f.set("gpus.csv", 0, "busy_s", "99999"), "gpu_time"),
    ("a GPU in service in its outage", lambda f: f.set("gpus.csv", 9, "down_s", "9"), "outages"),
    ("an average that is wrong", lambda f: f.figure("avg_jct_s", 1), "summary"),
    ("a failure that is not counted", lambda f: f.figure("finished", 4), "summary"),
    ("two holders of a GPU", lambda f: f.events(doubled), "one_holder"),
    ("a gang that is not whole", lambda f: f.events(half_gang), "gangs"),
    ("a task that is missing", lambda f: f.events(lost_task), "iterations"),
    ("a job on servers of another virtual cluster", lambda f: f.events(elsewhere), "whose"),
    ("a quota that is exceeded", lambda f: f.events(greedy), "whose"),
    ("launches that no host made", lambda f: f.set("jobs.csv", 1, "host_s", "1"), "launches"),
    ("bytes that nobody sent", lambda f: f.set("links.csv", 1, "bytes", lambda text: int(text) + 1), "transfers"),
]


def broken_laws(judge, drawn):
    """The laws that the results in the folder of the judge break."""
    found = reader.Results(judge.folder / "plain")
    timeline = timeline_laws.Timeline(judge.folder / "timeline.json", found)
    return {law for law, _ in judge.all_broken(drawn, found, timeline)}


def faults_of_checkers(judge):
    """Runs a scenario, which must break nothing, and falsifies its results in many ways; yields what isn't noticed."""
    drawn = scenario()
    judge.prepare(drawn)
    found, _, printed = judge.run_all_ways(drawn)
    if laws := broken_laws(judge, drawn):
        yield f"results that are right break {sorted(laws)}"
    good = judge.folder.parent / (judge.folder.name + "-good")
    shutil.copytree(judge.folder, good)
    try:
        for what, falsify, law in FAULTS:
            falsify(Folder(judge.folder / "plain"))
            broken = broken_laws(judge, drawn)
            if law not in broken:
                yield f"{what} breaks {sorted(broken) or 'nothing'}, not `{law}`"
            shutil.rmtree(judge.folder)
            shutil.copytree(good, judge.folder)
        yield from unnoticed_differences(judge, drawn, found, printed)
        yield from unnoticed_promises(judge, drawn, found)
        yield from unnoticed_waits(judge, drawn, found)
    finally:
        shutil.rmtree(good)


def unnoticed_promises(judge, drawn, found):
    """Yields which broken promises of policies, and which CPUs that no server has, aren't noticed."""
    spec = {**drawn.spec, "cluster": {**drawn.spec["cluster"], "cpus": 2}}
    for name in ("failures", "checkpoints"):
        spec.pop(name)
    jobs = [job for job in reader.jobs_of(drawn, found) if job.timed]
    timeline = timeline_laws.Timeline(judge.folder / "timeline.json", found)

    def under(policy):
        return draw.Scenario(0, 0, {**spec, "policies": {"scheduling": {"policy": policy}}}, drawn.tables)

    one, told = jobs[1], {"reservations": [{"first": {"start_s": jobs[1].row["start_s"]}}]}
    if (list(row_laws.promises(under("elasticflow"), found, [one]))
            or list(timeline_laws.reserved(under("easy"), jobs, one, told))):
        yield "a promise that is kept breaks a law"
    one.row["deadline_s"], told["reservations"][0]["first"]["start_s"] = "12", "9.5"
    if not list(row_laws.promises(under("elasticflow"), found, [one])):
        yield "an admitted job that is late is not noticed"
    if not list(timeline_laws.reserved(under("easy"), jobs, one, told)):
        yield "a start after the reservation is not noticed"
    all_jobs = reader.jobs_of(drawn, found)
    for cpus, fits in (("1", True), ("1.5", False)):  # GPUs of a server have two of them
        all_jobs[0].given["cpus"] = cpus
        if fits == bool(list(timeline_laws.hosts(under("fifo"), found, all_jobs, timeline))):
            yield f"{cpus} CPUs for each of two GPUs are judged wrongly"
    all_jobs[0].given.pop("cpus")


def unnoticed_waits(judge, drawn, found):
    """Yields which waits that never end aren't noticed, and which others are."""
    spec = {key: value for key, value in drawn.spec.items() if key != "failures"}
    timeline = timeline_laws.Timeline(judge.folder / "timeline.json", found)
    job, *others = reader.jobs_of(drawn, found)
    end, found.end = found.end, 3600 * 10 ** 9
    for state, noticed in (("finished", False), ("queued", True)):
        job.row["state"] = state
        if bool(list(timeline_laws.gets_on(drawn, found, [job, *others], timeline))) != noticed:
            yield f"a job that is {state} on an idle cluster is judged wrongly"
    fair = draw.Scenario(0, 0, {"cluster": {}, "policies": {
        "scheduling": {"policy": "max-min", "round_s": 10, "reallocate_s": 0}, "placement": {"policy": "spread"}}},
        drawn.tables)
    times = {column: job.row[column] for column in ("submit_s", "start_s", "finish_s")}
    for waits, noticed in ((60, False), (61, True)):  # two rounds, and four for the one job that is there
        job.row.update({"submit_s": "0", "start_s": str(waits), "finish_s": ""})
        if bool(list(row_laws.turns(fair, found, [job]))) != noticed:
            yield f"a job that has no turn for {waits} s is judged wrongly"
    job.row.update({**times, "start_s": ""})
    for down, noticed in (("3599", False), ("3600", True)):
        for gpu in found.gpus:
            gpu["down_s"] = down
        lent = draw.Scenario(0, 0, {**spec, "loans": {"servers": 5}}, {})
        if bool(list(row_laws.refused(lent, found, [job, *others]))) != noticed:
            yield f"a job that waits for servers which aren't lent for {down} s is judged wrongly"
    found.end = end


def unnoticed_differences(judge, drawn, found, printed):
    """Yields which differences between runs, of the explanation, and of what is printed, aren't noticed."""
    for way in ("no-leap", "timeline", "again"):
        Folder(judge.folder / way).set("jobs.csv", 0, "servers", "99")
        if not judge.is_broken(lambda way=way: judge.compare(way)):
            yield f"a difference between the runs plain and {way} is not noticed"
    if not list(summary_laws.printed(found, printed.replace("5 finished", "4 finished"))):
        yield "a wrong number of jobs in what is printed is not noticed"
    for column, text, noticed in (("server_type", "own", False), ("finish_s", "99", True)):
        others = [reader.Row(row) for row in found.jobs]
        others[2][column] = text
        if bool(list(variants.differences(found.jobs, others))) != noticed:
            yield f"another {column} of a variant is judged wrongly"
    others[2]["compute_gpu_s"] = "99"
    if any("compute_gpu_s" in text for text in variants.differences(found.jobs, others, {"compute_gpu_s"})):
        yield "a column that a variant changes is judged"
    jobs = reader.jobs_of(drawn, found)
    told = judge.explanation(drawn, jobs, jobs[1], found)
    told["attempts"][0]["to_s"] = told["attempts"][0]["from_s"]
    if not list(timeline_laws.explained(drawn, jobs[1], told)):
        yield "an attempt that is cut in an explanation is not noticed"
    told["attempts"][0]["ended_by"] = "preempted"
    if not any("starts and is preempted" in text for text in timeline_laws.explained(drawn, jobs[1], told)):
        yield "a job that is preempted as it starts is not noticed"

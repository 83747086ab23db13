"""Changes of logs and results that are wrong, each with words of the disagreement that has to name it.

A fault is (what, run, file, change, words): `change` gets the rows of a table of that run as maps, or summary.json as
data, and alters them in place. They were written down before the checker ran for the first time.
"""


def of(rows, **wanted):
    """The first row with these values."""
    return next(row for row in rows if all(row[column] == value for column, value in wanted.items()))


def put(column, value, **wanted):
    """Sets a field of a row."""
    return lambda rows: of(rows, **wanted).update({column: value})


def drop(**wanted):
    """Takes a row out."""
    return lambda rows: rows.remove(of(rows, **wanted))


def again(column, value, **wanted):
    """Repeats a row with another field behind it."""
    def change(rows):
        row = of(rows, **wanted)
        rows.insert(rows.index(row) + 1, {**row, column: value})
    return change


def shift(nanoseconds, column, **wanted):
    """Adds to a time."""
    def change(rows):
        row = of(rows, **wanted)
        whole, _, part = row[column].partition(".")
        time = int(whole) * 10 ** 9 + int(part.ljust(9, "0")) + nanoseconds
        row[column] = f"{time // 10 ** 9}.{time % 10 ** 9:09d}"
    return change


def swap(first, second, column="job_id"):
    """Exchanges the values of a column of two rows."""
    def change(rows):
        one, two = of(rows, **first), of(rows, **second)
        one[column], two[column] = two[column], one[column]
    return change


def figure(name, change):
    """Changes a figure of summary.json."""
    def edit(summary):
        replica = summary["replicas"][0]
        replica[name] = change(replica[name])
    return edit


def scale(column, factor, **wanted):
    """Multiplies the first number of a field."""
    def change(rows):
        row = of(rows, **wanted)
        first, *others = row[column].split(" ")
        at, equals, number = first.rpartition("=")
        row[column] = " ".join([f"{at}{equals}{float(number) * factor!r}", *others])
    return change


def send(change, which=lambda row: True):
    """Changes the first part of transfers.csv of this kind, which gets its route, too."""
    def edit(rows):
        routes = {row["number"]: row for row in rows if row["event"] == "route"}
        part = next(row for row in rows if row["event"] == "sends" and which(row))
        change(part, routes[part["number"]])
    return edit


def scale_count(more):
    """So many repetitions more."""
    def change(rows):
        row = of(rows, event="repeats")
        row["number"] = str(int(row["number"]) + more)
    return change


LOG, JOBS, GPUS, SUMMARY = "certificate.csv", "jobs.csv", "gpus.csv", "summary.json"
SENT, LINKS, GRAPHS = "transfers.csv", "links.csv", "graphs.csv"

FAULTS = [
    # GPUs
    ("a GPU given twice", "fifo", LOG, put("gpus", "1-2", event="starts", job_id="b"), "gets GPU 1"),
    ("a gang of one GPU less", "fifo", LOG, put("gpus", "0-2", event="starts", job_id="a"), "starts on 3 GPUs"),
    ("a gang of one GPU more", "fifo", LOG, put("gpus", "2-4", event="starts", job_id="b"), "starts on 3 GPUs"),
    ("a GPU that isn't there", "fifo", LOG, put("gpus", "2 9", event="starts", job_id="b"), "GPU 9"),
    ("a GPU twice in a gang", "fifo", LOG, put("gpus", "2 2", event="starts", job_id="b"), "has a GPU twice"),
    ("no GPU at all", "fifo", LOG, put("gpus", "", event="starts", job_id="b"), "starts on"),
    ("GPUs of another server", "fifo", LOG, put("gpus", "3-4", event="starts", job_id="b"), "gpus.csv"),
    ("more GPUs than an elastic job may have", "elastic", LOG,
     lambda rows: next(row for row in rows if row["event"] == "starts").update(gpus="0-7"), "GPUs"),
    # the order of a life
    ("a start before the arrival", "fifo", LOG, shift(-1, "time_s", event="starts", job_id="c"), "job c"),
    ("a start without an arrival", "fifo", LOG, drop(event="arrives", job_id="b"), "has not arrived"),
    ("a job that arrives twice", "fifo", LOG, again("text", "", event="arrives", job_id="a"), "arrives"),
    ("an arrival that is late", "fifo", LOG, put("time_s", "1", event="arrives", job_id="a"), "job a"),
    ("a job that starts twice", "fifo", LOG, again("gpus", "0-3", event="starts", job_id="a"), "starts, but it runs"),
    ("a job that ends twice", "fifo", LOG, again("text", "", event="ends", job_id="a"), "ends, but it has ended"),
    ("an end that is missing", "fifo", LOG, drop(event="ends", job_id="d"), "job d"),
    ("a start that is missing", "fifo", LOG, drop(event="starts", job_id="d"), "ends, but it waits"),
    ("a preempted job that never queued", "srtf", LOG, drop(event="queues", job_id="long"), "job long"),
    ("a preemption that is missing", "srtf", LOG, drop(event="preempted", job_id="long"), "job long"),
    ("a job that nobody knows", "fifo", LOG, put("job_id", "x", event="arrives", job_id="a"), "no such job"),
    ("an event that nobody knows", "fifo", LOG, put("event", "hides", event="ends", job_id="a"), "no event 'hides'"),
    ("a row after the end of the run", "fifo", LOG, lambda rows: rows.append({**of(rows, event="arrives", job_id="a"),
                                                                             "time_s": "1000"}), "after the end"),
    ("a log without an end", "fifo", LOG, drop(event="run ends"), "no row for the end"),
    ("a run that ends later", "fifo", LOG, shift(1, "time_s", event="run ends"), "the run ends"),
    ("rows out of order", "fifo", LOG, swap({"event": "arrives", "job_id": "b"}, {"event": "ends", "job_id": "d"},
                                            "time_s"), "comes after a row of"),
    # orders and promises
    ("FIFO starts the later job first", "fifo", LOG, swap({"event": "starts", "job_id": "d"},
                                                          {"event": "starts", "job_id": "e"}), "by fifo"),
    ("SJF starts the longer job first", "sjf", LOG, swap({"event": "starts", "job_id": "short"},
                                                         {"event": "starts", "job_id": "middle"}), "by sjf"),
    ("SRTF starts the job with more left first", "srtf", LOG, swap({"event": "starts", "job_id": "s1"},
                                                                   {"event": "starts", "job_id": "s2"}), "by srtf"),
    ("EASY breaks its promise", "easy", LOG, put("seconds", "40", event="promised", job_id="wide"), "promises"),
    ("conservative backfilling breaks its promise", "conservative", LOG,
     put("seconds", "40", event="promised", job_id="wide"), "promises"),
    ("a promise in the past", "easy", LOG, put("seconds", "0", event="promised", job_id="wide"), "in the past"),
    # work
    ("an end a nanosecond early", "fifo", LOG, shift(-1, "time_s", event="ends", job_id="a"), "job a"),
    ("an end a nanosecond late", "fifo", LOG, shift(1, "time_s", event="ends", job_id="e"), "job e"),
    ("work that was never done", "fifo", JOBS, shift(10 ** 9, "redone_s", job_id="a"), "its work is"),
    ("a restart that costs less", "srtf", LOG, put("seconds", "1", event="starts", job_id="long", text="",
                                                   gpus="0-3", time_s="23"), "overhead_s"),
    ("a restart that costs nothing", "srtf", JOBS, put("restart_s", "0", job_id="long"), "restart_s"),
    ("a job that asks for more than the list says", "fifo", LOG, put("seconds", "101", event="arrives", job_id="a"),
     "asks for 101 s"),
    ("iterations that are not done", "train", JOBS, put("iterations_done", "11", job_id="t"), "finished with 11"),
    # transfers
    ("a lost gradient", "meet", SENT, drop(event="sends"), "transfers is"),
    ("a gradient that is sent twice", "meet", SENT, again("text", "", event="sends"), "one of 2 has"),
    ("a transfer that ends a nanosecond early", "meet", SENT, shift(-1, "ends_s", event="sends"), "ns longer"),
    ("a transfer that ends a nanosecond late", "meet", SENT, shift(1, "ends_s", event="sends"), "ns less"),
    ("a flow that ends a nanosecond late", "flow", SENT, shift(1, "ends_s", event="sends"), "carries"),
    ("a rate 1% too high", "meet", SENT, scale("rates", 1.01, event="sends"), "bytes a second"),
    ("a rate of a flow 1% too high", "flow", SENT, scale("rates", 1.01, event="sends"), "carries"),
    ("a rate of a flow 1% too low", "flow", SENT, scale("rates", 0.99, event="sends"), "forbids more"),
    ("one of two that has all", "meet", SENT, send(lambda part, route: part.update(rates=route["rates"]),
                                                   lambda row: " " in row["rates"]), "one of 2 has"),
    ("a message with more bytes", "meet", SENT, scale("bytes", 1.001, event="route"), "ns longer"),
    ("a start-up that is shorter", "flow", SENT, shift(1000, "starts_s", event="route"), "ns longer"),
    ("a transfer of another job", "meet", SENT, put("job_id", "z", event="route", job_id="x"), "job z"),
    ("a transfer on a server without the job", "meet", SENT, put("servers", "0-5", event="route"), "has no GPU"),
    ("a transfer before its job", "meet", SENT, send(lambda part, route: part.update(starts_s="0", ends_s="0.001"),
                                                     lambda row: row["starts_s"] > "1"), "ns longer"),
    ("a transfer that is cancelled while its job goes on", "meet", SENT, put("text", "cancelled", event="sends"),
     "is cancelled"),
    ("an interface that nobody used", "meet", SENT, put("servers", "0", event="route"), "transfers is"),
    ("a repetition that is missing", "alone", SENT, drop(event="repeats"), "busy_s is"),
    ("a repetition more", "alone", SENT, scale_count(1), "busy_s is"),
    ("a repetition of flows less", "alone-flow", SENT, scale_count(-1), "busy_s is"),
    ("a link that carries more", "flow", SENT, scale("rates", 1.1, event="link", number="0"), "bandwidth_Bps is"),
    ("links that are slower", "flow", SENT, lambda rows: [row.update(rates=repr(float(row["rates"]) * 0.9))
                                                          for row in rows if row["event"] == "link"], "carries"),
    # iterations
    ("an operation that takes a nanosecond longer", "train", GRAPHS, shift(1, "seconds", graph="1", number="1"),
     "their longest path"),
    ("an operation that waits for another", "train", GRAPHS, put("after", "0", graph="1", number="2"),
     "their longest path"),
    # sums
    ("a link that was busy longer", "meet", LINKS, shift(1, "busy_s", server="0"), "busy_s is"),
    ("a link with less contention", "meet", LINKS, shift(-1, "contended_s", server="1"), "contended_s is"),
    ("a link with a transfer more", "meet", LINKS, lambda rows: rows[0].update(
        transfers=str(int(rows[0]["transfers"]) + 1)), "transfers is"),
    ("a link with a byte more", "meet", LINKS, lambda rows: rows[0].update(bytes=str(int(rows[0]["bytes"]) + 1)),
     "bytes is"),
    ("a job that communicates longer", "meet", JOBS, shift(1, "communication_s", job_id="x"), "communication_s is"),
    ("a job with less contention", "meet", JOBS, shift(-1, "contended_s", job_id="y"), "contended_s is"),
    ("a link of the fabric with more bytes", "flow", "fabric.csv", lambda rows: next(
        row for row in rows if row["bytes"] != "0").update(bytes="12345"), "bytes is"),
    ("time on GPUs a nanosecond longer", "fifo", JOBS, shift(1, "held_s", job_id="b"), "held_s is"),
    ("a wait that is shorter", "fifo", JOBS, put("waited_s", "1", job_id="d"), "waited_s is"),
    ("a preemption that isn't counted", "srtf", JOBS, put("preemptions", "0", job_id="long"), "preemptions is"),
    ("an interruption that isn't counted", "failures", JOBS, put("interruptions", "0", job_id="a"), "interruptions is"),
    ("time away that is longer", "failures", JOBS, shift(1, "away_s", job_id="a"), "away_s is"),
    ("a job on fewer servers", "fifo", JOBS, put("servers", "2", job_id="a"), "servers is"),
    ("a job that is said to run", "fifo", JOBS, put("state", "running", job_id="a"), "state is running"),
    ("a completion time that is shorter", "fifo", JOBS, put("jct_s", "1", job_id="e"), "jct_s is"),
    ("a GPU that was busy longer", "fifo", GPUS, shift(1, "busy_s", gpu="0"), "busy_s is"),
    ("a GPU with fewer jobs", "fifo", GPUS, put("jobs", "0", gpu="0"), "jobs is"),
    ("a GPU that was down all the time", "failures", GPUS, put("down_s", "1000", gpu="0"), "down_s is"),
    ("an average that is better", "fifo", SUMMARY, figure("avg_jct_s", lambda value: value * 0.999), "avg_jct_s is"),
    ("a utilisation that is 1% too high", "fifo", SUMMARY, figure("gpu_utilisation", lambda value: value * 1.01),
     "gpu_utilisation is"),
    ("a makespan below its bound", "fifo", SUMMARY, figure("bound_makespan_s", lambda value: value * 9), "below its"),
    ("a restart that the summary leaves out", "srtf", SUMMARY, figure("restarts", lambda value: value - 1),
     "restarts is"),
]

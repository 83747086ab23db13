"""Runs the cases of the suite `network` in SimGrid.

Each case runs in a process of its own, because a process can't make a second engine. Hosts only name routes: every
path has a pair of hosts, which the flows on it share.
"""
import os, sys, time
from simgrid import Actor, Comm, Engine, LinkInRoute, NetZone, this_actor

def simulate(capacities, flows):
    options = ["network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0", "network/weight-S:0",
               "network/bandwidth-factor:1.0", "network/latency-factor:1.0",
               "surf/precision:1e-12", "maxmin/precision:1e-9"]
    engine = Engine(["oracle", "--log=root.thresh:error"] + ["--cfg=" + option for option in options])
    zone = NetZone.create_full_zone("zone")
    paths = {}
    for start, size, path in flows:
        paths.setdefault(path, len(paths))
    side = 2
    while side * (side - 1) < len(paths):
        side += 1
    hosts = [zone.create_host("host%d" % i, 1e9).seal() for i in range(side)]
    links = [zone.create_link("link%d" % i, c).set_latency(0).seal() for i, c in enumerate(capacities)]
    ends = {}
    for path, number in paths.items():
        i, j = divmod(number, side - 1)
        a, b = hosts[i], hosts[j if j < i else j + 1]
        ends[path] = (a, b)
        zone.add_route(a.netpoint, b.netpoint, None, None, [LinkInRoute(links[l]) for l in path], False)
    zone.seal()
    comms = []
    def drive():
        for start, size, path in flows:
            if start > Engine.clock:
                this_actor.sleep_until(start)
            comms.append(Comm.sendto_async(*ends[path], size))
        for comm in comms:
            comm.wait()
    Actor.create("driver", hosts[0], drive)
    begin = time.process_time()
    engine.run_until(until)
    print("%.6f" % (time.process_time() - begin))
    for comm in comms:
        print("%.17g" % comm.finish_time)
    sys.stdout.flush()

until = float(sys.argv[2])
lines = iter(open(sys.argv[1]))
for _ in range(int(next(lines))):
    link_count, flow_count = map(int, next(lines).split())
    capacities = [float(next(lines)) for _ in range(link_count)]
    flows = []
    for _ in range(flow_count):
        start, size, *path = next(lines).split()
        flows.append((float(start), int(size), tuple(map(int, path))))
    child = os.fork()
    if child == 0:
        try:
            simulate(capacities, flows)
        except BaseException as error:
            print(error, file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        sys.exit(1)

"""Policies as Python classes. Each run has an object of its own and asks it in its own thread, by the protocol of
docs/howto/external-policy.md."""

import ctypes
import json
import mmap
import os
import threading
import time
import traceback
from typing import Any, Callable, Dict, List, Optional, cast

from ._errors import UsageError
from ._module import native
from ._results import plain

PROTOCOL = 1
PATIENCE = "CONTEND_POLICY_TIMEOUT"
Job = Dict[str, Any]
Message = Dict[str, Any]


class Policy:
    """What all policies have: a name for messages. `seed` is that of the run."""

    name = ""
    seed = 0

    def _hello(self) -> Message:
        return {"protocol": PROTOCOL, "name": self.name or type(self).__name__}

    def _answer(self, question: Message) -> Message:
        raise NotImplementedError


class SchedulingPolicy(Policy):
    """Decides which jobs start. `waiting` and `running` are kept up to date: jobs by id, as dictionaries."""

    order = "submit"  #: which job goes first where jobs share a GPU: submit, remaining_time or remaining_service

    waiting: Dict[int, Job]
    running: Dict[int, Job]
    now: int

    def __new__(cls, *_: Any, **__: Any) -> "SchedulingPolicy":  # so that a class's own __init__ needn't call another one
        self = super().__new__(cls)
        self.waiting, self.running, self.now = {}, {}, 0
        return self

    def decide(self, question: Message) -> Message:
        """The answer to a pass, such as {"start": [ids]}."""
        raise NotImplementedError(f"{type(self).__name__} has no method decide(self, question)")

    def _hello(self) -> Message:
        return {**super()._hello(), "order": self.order}

    def _answer(self, question: Message) -> Message:
        self.now = question["now"]
        for job in question.get("started", ()):
            if job in self.waiting:
                self.running[job] = self.waiting.pop(job)
        for job in question.get("left", ()):
            self.running.pop(job, None)
        for job in question.get("queued", ()):
            self.running.pop(job["id"], None)
            self.waiting[job["id"]] = job
        return self.decide(question)


class PlacementPolicy(Policy):
    """Decides which GPUs a job gets. `free` has the free memory and the free share of each GPU, in that order."""

    refuses_alike = False  #: True if a refusal depends only on what the job asks for
    load = False  #: True if the work left on each GPU is wanted, as a third item of `free`

    free: Dict[int, List[int]]
    server_of: List[int]
    now: int

    def __new__(cls, *_: Any, **__: Any) -> "PlacementPolicy":  # as in SchedulingPolicy
        self = super().__new__(cls)
        self.free, self.server_of, self.now = {}, [], 0
        return self

    def place(self, job: Job, question: Message) -> List[int]:
        """The GPU of each rank of the job; an empty list if it has to wait."""
        raise NotImplementedError(f"{type(self).__name__} has no method place(self, job, question)")

    def fits(self, gpu: int, job: Job) -> bool:
        """True if the GPU has room for a rank of the job."""
        memory, share = self.free[gpu][:2]
        wanted = job.get("gpu_share", 0)
        return bool(share >= wanted if wanted else memory >= job.get("memory_per_gpu", 0))

    def _hello(self) -> Message:
        return {**super()._hello(), "refuses_alike": self.refuses_alike, "load": self.load}

    def _answer(self, question: Message) -> Message:
        self.now = question["now"]
        if "cluster" in question:
            self.server_of = question["cluster"]["server_of"]
        for gpu, *room in question.get("gpus", ()):
            self.free[gpu] = room
        return {"gpus": list(self.place(question["job"], question))}


class CommunicationPolicy(Policy):
    """Decides which servers accept a message."""

    order = "submit"  #: which message goes first: submit, remaining_time or remaining_service

    def accept(self, server: int, active: List[List[float]], question: Message) -> bool:
        """True if the server, whose interface has these transfers ([job, bytes left]), accepts the message now."""
        raise NotImplementedError(f"{type(self).__name__} has no method accept(self, server, active, question)")

    def _hello(self) -> Message:
        return {**super()._hello(), "order": self.order}

    def _answer(self, question: Message) -> Message:
        return {"accept": [self._accepts(server, active, question) for server, active in question["servers"]]}

    def _accepts(self, server: int, active: List[List[float]], question: Message) -> bool:
        answer = self.accept(server, active, question)
        if isinstance(answer, bool):
            return answer
        if type(answer).__module__ == "numpy" and isinstance(plain(answer), bool):
            return bool(answer)
        raise TypeError(f"accept() must return True or False, and returned {answer!r}")


def patience() -> float:
    """The seconds after which a policy that hasn't answered fails; 0 for never."""
    text = os.environ.get(PATIENCE, "300")
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not 0 <= seconds <= 1e9:
        raise UsageError(2, f'{PATIENCE}: expected seconds, 0 to 1e9, got "{text}"')
    return seconds


class Trial:
    """Runs a call in a process of its own first. If a policy ends that process or never answers, `fatal` is the question
    at which it does so, and the policy fails there when the call is made in this process."""

    _RETURNED, _HANGS = 1, 2

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, 9)  # how many questions were asked; how the process ended
        self._is_child = False
        self._fatal, self._why = 0, ""

    def ask(self) -> None:
        """To be called for each question."""
        asked = int.from_bytes(self._shared[:8], "little") + 1
        self._shared[:8] = asked.to_bytes(8, "little")
        if self._fatal and asked >= self._fatal:  # of runs that come later, too, which may end the process again
            raise ChildProcessError(self._why)

    def end_if_child(self) -> None:
        """Ends the process of the trial, whose policy hangs."""
        if self._is_child:
            self._shared[8] = self._HANGS
            os._exit(0)

    def find(self, call: Callable[[Optional[int]], Any], seconds: float) -> bool:
        """Makes the call, which takes the number of threads; True if a policy ended it. Questions have an order only
        on one thread, so what ends the first process has to be found in a second one."""
        for threads in (None, 1):
            self._shared[:] = bytes(9)
            child = os.fork()
            if child == 0:
                self._make(call, threads)
            _, status = os.waitpid(child, 0)
            if self._shared[8] == self._RETURNED:
                return False
        self._fatal = int.from_bytes(self._shared[:8], "little")
        self._why = (f"didn't answer within {seconds:g} s" if self._shared[8] == self._HANGS
                     else f"was ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status)
                     else f"ended with exit code {os.WEXITSTATUS(status)}")
        self._shared[:] = bytes(9)
        return True

    def _make(self, call: Callable[[Optional[int]], Any], threads: Optional[int]) -> None:
        self._is_child = True
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):
            os.dup2(nothing, stream)
        try:
            call(threads)
        except BaseException:  # the call in the process of the caller tells it
            pass
        self._shared[8] = self._RETURNED
        os._exit(0)


class Watch:
    """Raises TimeoutError in a thread whose policy doesn't answer. Python raises it before the next step of the policy's
    own code: a call into C that never returns goes on, but for a trial, whose process ends."""

    def __init__(self, seconds: float, trial: Optional[Trial] = None) -> None:
        self.seconds = seconds
        self._trial = trial
        self._asked: Dict[int, float] = {}  # the threads that answer, and since when
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread: Optional[threading.Thread] = None

    def begin(self) -> None:
        if not self.seconds:
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._look, name="contend-policy-watch", daemon=True)
            self._thread.start()
        self._asked[threading.get_ident()] = time.monotonic()

    def end(self) -> None:
        thread = threading.get_ident()
        if self._asked.pop(thread, None) is None and self.seconds:
            with self._lock:  # it was too late: an exception that hasn't been raised yet won't be
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), None)

    def close(self) -> None:
        self._closed.set()

    def _look(self) -> None:
        while not self._closed.wait(min(self.seconds / 10, 0.5)):
            for thread, since in list(self._asked.items()):
                with self._lock:
                    if time.monotonic() - since > self.seconds and self._asked.pop(thread, None) is not None:
                        if self._trial is not None:
                            self._trial.end_if_child()
                        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread),
                                                                   ctypes.py_object(TimeoutError))


class Asked:
    """What runs ask while a call lasts: an object of the policy for each run."""

    def __init__(self, make: Callable[[], Policy], trial: Optional[Trial] = None) -> None:
        self._make = make
        self._trial = trial
        self._watch = Watch(patience(), trial)
        self.error: Optional[BaseException] = None  #: the first exception of a policy
        self._registered: Optional[native.Policy] = native.Policy(
            getattr(make, "__name__", "policy").strip("<>"), self._conversation)

    @property
    def choice(self) -> Dict[str, str]:
        """The policy as a scenario names it."""
        assert self._registered is not None
        return {"policy": "external", "command": self._registered.command}

    def close(self) -> None:
        """Ends the registration, which holds this object."""
        self._registered = None
        self._watch.close()

    def _conversation(self) -> Callable[[str], str]:
        """The answers of one policy, which is made when the first question comes."""
        policies: List[Policy] = []

        def answer(line: str) -> str:
            try:
                self._watch.begin()
                try:
                    if self._trial is not None:
                        self._trial.ask()
                    question: Message = json.loads(line)
                    if policies:
                        return json.dumps(policies[0]._answer(question), default=plain)
                    policies.append(self._make())
                    policies[0].seed = question["seed"]
                    return json.dumps(policies[0]._hello())
                finally:
                    self._watch.end()
            except BaseException as error:  # of the policy: the run ends with its last line
                if type(error) is TimeoutError and not error.args:
                    error.args = (f"didn't answer within {self._watch.seconds:g} s",)
                self.error = self.error or error
                last = traceback.format_exception_only(type(error), error)[-1].strip()
                return json.dumps({"error": last})

        return answer


def factory_of(policy: Any) -> Callable[[], Policy]:
    """What makes a policy for each run, from a class or a function. Raises TypeError for anything else."""
    if isinstance(policy, Policy):
        raise TypeError(f"expected the class {type(policy).__name__} or a function that makes one, not an object of it: "
                        "each run needs a policy of its own")
    if not callable(policy):
        raise TypeError(f"expected a policy's class or a function that makes one, not {policy!r}")
    return cast(Callable[[], Policy], policy)

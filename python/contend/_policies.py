"""Policies as Python classes. Each run has an object of its own and asks it in its own thread, by the protocol of
docs/howto/external-policy.md."""

import json
import traceback
from typing import Any, Callable, Dict, List, Optional, cast

from ._module import native
from ._results import plain

PROTOCOL = 1
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


class Asked:
    """What runs ask while a call lasts: an object of the policy for each run."""

    def __init__(self, make: Callable[[], Policy]) -> None:
        self._make = make
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

    def _conversation(self) -> Callable[[str], str]:
        """The answers of one policy, which is made when the first question comes."""
        policies: List[Policy] = []

        def answer(line: str) -> str:
            try:
                question: Message = json.loads(line)
                if policies:
                    return json.dumps(policies[0]._answer(question), default=plain)
                policies.append(self._make())
                policies[0].seed = question["seed"]
                return json.dumps(policies[0]._hello())
            except BaseException as error:  # of the policy: the run ends with its last line
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

"""What stands in place of GPUs, of other ranks, and of parts of PyTorch that would need either, while a program is captured."""

import contextlib
import functools
import math
import os
import sys
import types

import torch

import capture_operators as operators
from capture_recorder import Collective, FakeTensor, Layer, tensors_in

FIRST_BUCKET, BUCKET_MB = 1 << 20, 25  # of DistributedDataParallel (torch/nn/parallel/distributed.py, torch/csrc/distributed)


class StepDone(BaseException):
    """Ends the program once its step is captured."""


class _Nothing:
    """A stream, an event or a profiler: it has every method, and none does anything."""

    def __init__(self, *args, **kwargs):
        pass

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False


class Work:
    """An asynchronous collective, which is done."""

    def wait(self, *args):
        return True

    def is_completed(self):
        return True

    def get_future(self):
        raise NotImplementedError("contend capture: futures of collectives")


class Autocast(contextlib.ContextDecorator):
    """Casts nothing: flops and sizes don't depend on it, and the entry has its format."""

    recorder = None

    def __init__(self, device_type="cuda", dtype=None, enabled=True, cache_enabled=None):
        self.enabled = enabled
        self.dtype = dtype or (torch.float16 if str(device_type).startswith("cuda") else torch.bfloat16)

    def __enter__(self):
        if self.enabled:
            self.recorder.autocast.add(str(self.dtype).split(".")[-1])

    def __exit__(self, *args):
        return False


class CudaAutocast(Autocast):
    def __init__(self, enabled=True, dtype=torch.float16, cache_enabled=True):
        super().__init__("cuda", dtype, enabled)


def _gpus(ranks):
    """The members of torch.cuda that programs ask and that would need a GPU."""
    here = torch.device("cpu")
    properties = types.SimpleNamespace(name="captured", major=9, minor=0, total_memory=80 << 30, multi_processor_count=132)
    values = {"is_available": True, "device_count": min(ranks, 8), "current_device": 0, "is_initialized": True,
              "get_device_name": "captured", "get_device_capability": (9, 0), "get_device_properties": properties,
              "is_bf16_supported": True, "memory_allocated": 0, "max_memory_allocated": 0, "memory_reserved": 0,
              "max_memory_reserved": 0, "mem_get_info": (80 << 30, 80 << 30), "memory_summary": "", "memory_stats": {},
              "current_stream": _Nothing(), "default_stream": _Nothing(), "set_device": None, "synchronize": None,
              "empty_cache": None, "manual_seed": None, "manual_seed_all": None, "seed": None, "init": None,
              "reset_peak_memory_stats": None, "set_per_process_memory_fraction": None, "ipc_collect": None}
    members = {name: (lambda *args, value=value, **kwargs: value) for name, value in values.items()}
    members.update(Stream=_Nothing, Event=_Nothing, device=_Nothing, stream=_Nothing)
    members["get_rng_state"] = lambda *args, **kwargs: torch.zeros(16, dtype=torch.uint8, device=here)
    members["set_rng_state"] = lambda *args, **kwargs: None
    return members


class _Group:
    def __init__(self, ranks):
        self.ranks = tuple(ranks)

    def size(self):
        return len(self.ranks)

    def rank(self):
        return self.ranks.index(0) if 0 in self.ranks else -1


class Ranks:
    """torch.distributed of rank 0 of a job: collectives are recorded, and leave their tensors as they are."""

    def __init__(self, recorder, count):
        self.recorder, self.count = recorder, count
        self.world, self.begun = _Group(range(count)), False

    def _group(self, group):
        return group if isinstance(group, _Group) else self.world

    def record(self, kind, size, group=None):
        step, phase = self.recorder.step, self.recorder.phase
        if phase == "forward" and step.backwards > 0 and not step.layers:
            phase = "exchange"  # between the backward pass and the update
        step.collectives.append(Collective(kind, self._group(group).ranks, size, phase))

    def _collective(self, kind, place):
        """A collective of as many bytes as the argument at `place` has."""
        def call(*args, group=None, async_op=False, **kwargs):
            groups = [each for each in args if isinstance(each, _Group)]
            given = list(args) + list(kwargs.values())
            size = sum(each.numel() * each.element_size() for each in tensors_in([given[place]]))
            self.record(kind, size, group or (groups[0] if groups else None))
            return Work() if async_op or kind in ("send", "receive") else None
        return call

    def _begin(self, *args, **kwargs):
        self.begun = True

    def _gather_objects(self, objects, value, group=None):
        objects[:] = [value] * len(objects)

    def _rank(self, group=None):
        return self._group(group).rank()

    def members(self):
        made = {"is_available": lambda: True, "is_initialized": lambda: self.begun, "init_process_group": self._begin,
                "destroy_process_group": lambda *args: None, "get_rank": self._rank,
                "get_world_size": lambda group=None: self._group(group).size(), "get_backend": lambda group=None: "nccl",
                "is_nccl_available": lambda: True, "is_gloo_available": lambda: True, "is_mpi_available": lambda: False,
                "is_torchelastic_launched": lambda: True,
                "new_group": lambda ranks=None, *args, **kwargs: _Group(ranks or range(self.count)),
                "barrier": lambda *args, **kwargs: self.record("barrier", 0, kwargs.get("group")),
                "all_gather_object": self._gather_objects, "broadcast_object_list": lambda *args, **kwargs: None,
                "group": types.SimpleNamespace(WORLD=self.world), "GroupMember": types.SimpleNamespace(WORLD=self.world),
                "ProcessGroup": _Group, "Work": Work, "Backend": str,
                "ReduceOp": types.SimpleNamespace(SUM=0, AVG=1, PRODUCT=2, MIN=3, MAX=4, BAND=5, BOR=6, BXOR=7)}
        made["monitored_barrier"] = made["barrier"]
        # Bytes: of the tensor that a rank gives; in a gathering, of all tensors that a rank gets.
        for name, kind, place in (("all_reduce", "all-reduce", 0), ("reduce", "reduce", 0), ("broadcast", "broadcast", 0),
                                  ("all_gather", "all-gather", 0), ("all_gather_into_tensor", "all-gather", 0),
                                  ("_all_gather_base", "all-gather", 0), ("gather", "gather", 0),
                                  ("reduce_scatter", "reduce-scatter", 1), ("reduce_scatter_tensor", "reduce-scatter", 1),
                                  ("_reduce_scatter_base", "reduce-scatter", 1), ("scatter", "scatter", 0),
                                  ("all_to_all", "all-to-all", 1), ("all_to_all_single", "all-to-all", 1),
                                  ("send", "send", 0), ("isend", "send", 0), ("recv", "receive", 0), ("irecv", "receive", 0)):
            made[name] = self._collective(kind, place)
        return made


def _data_parallel(ranks):
    class DistributedDataParallel(torch.nn.Module):
        """Records the all-reduces of the gradients' buckets behind each backward pass that exchanges."""

        def __init__(self, module, *args, process_group=None, bucket_cap_mb=BUCKET_MB, **kwargs):
            super().__init__()
            self.module, self.group, self.exchanges = module, process_group, True
            trained = [each for each in module.parameters() if each.requires_grad]
            self.buckets, limit, filled = [], FIRST_BUCKET, 0
            for each in reversed(trained):
                filled += each.numel() * each.element_size()
                if filled >= limit:
                    self.buckets.append(filled)
                    limit, filled = int(bucket_cap_mb * (1 << 20)), 0
            self.buckets += [filled] if filled else []

        def forward(self, *args, **kwargs):
            if torch.is_grad_enabled() and self.exchanges:
                ranks.recorder.after_backward.append(self.exchange)
            return self.module(*args, **kwargs)

        def exchange(self):
            for size in self.buckets:
                ranks.record("all-reduce", size, self.group)

        @contextlib.contextmanager
        def no_sync(self):
            self.exchanges = False
            try:
                yield
            finally:
                self.exchanges = True

        def join(self, *args, **kwargs):
            return contextlib.nullcontext()

    return DistributedDataParallel


def _attention(recorder):
    def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
                                     enable_gqa=False):
        """Attention in one kernel, which keeps no scores and computes them again: 5 products backward for 2 forward."""
        call = recorder.calls[-1] if recorder.calls else None
        layer = Layer(f"{call.name}.attention" if call and call.name else "attention")
        layer.geometries = [operators.attention_geometry(query, key, recorder.samples or 1, is_causal)]
        layer.read, layer.written, layer.kernels = query.numel() + key.numel() + value.numel(), query.numel(), 1
        layer.written_bytes, layer.fused = query.numel() * query.element_size(), True
        layer.needs_gradient = any(each.requires_grad for each in (query, key, value))
        outer, recorder.fused = recorder.fused, layer
        try:
            if key.shape[-3] != query.shape[-3]:
                groups = query.shape[-3] // key.shape[-3]
                key, value = (each.unsqueeze(-3).expand(*each.shape[:-2], groups, *each.shape[-2:]).flatten(-4, -3)
                              for each in (key, value))
            scores = query @ key.transpose(-2, -1) * (scale or 1 / math.sqrt(query.shape[-1]))
            out = torch.softmax(scores, -1) @ value
        finally:
            recorder.fused = outer
        if recorder.phase == "forward" and outer is None and recorder.last is layer:
            recorder.step.layers.append(layer)
        return out
    return scaled_dot_product_attention


def _dropout(input, p=0.5, training=True, inplace=False):
    """In one kernel, as on a GPU; a CPU takes several."""
    return torch.native_dropout(input, p, training)[0] if training and p > 0 else input


def _watch_optimizers(recorder, finished):
    """Has the step of each optimizer say so to the recorder; `finished` is called behind it."""
    begin = torch.optim.Optimizer.__init__

    def initialise(self, *args, **kwargs):
        begin(self, *args, **kwargs)
        kind = type(self)
        if "_captured" in vars(kind):
            return
        step = kind.step

        @functools.wraps(step)
        def captured(self, *args, **kwargs):
            outer, recorder.phase = recorder.phase, "update"
            try:
                result = step(self, *args, **kwargs)
            finally:
                recorder.phase = outer
            recorder.step.optimizer = self
            finished()
            return result

        captured.hooked = True  # a profiler's hook of PyTorch's own leaves it alone
        kind.step, kind._captured = captured, True

    torch.optim.Optimizer.__init__ = initialise


def _watch_backward(recorder):
    depth = [0]

    def watched(call):
        @functools.wraps(call)
        def run(tensors=None, *args, **kwargs):
            if depth[0] == 0:
                recorder.begin_backward(tensors if tensors is not None else kwargs.get("tensors", kwargs.get("outputs")))
            depth[0] += 1
            try:
                return call(*(() if tensors is None else (tensors,)), *args, **kwargs)
            finally:
                depth[0] -= 1
                if depth[0] == 0:
                    recorder.end_backward()
        return run

    torch.autograd.backward, torch.autograd.grad = watched(torch.autograd.backward), watched(torch.autograd.grad)


def _plain_loader(recorder):
    """Has loaders read in this process, where tensors are recorded."""
    begin = torch.utils.data.DataLoader.__init__

    @functools.wraps(begin)
    def initialise(self, *args, **kwargs):
        args = args[:6]  # up to the number of workers
        for name in ("prefetch_factor", "persistent_workers", "pin_memory", "multiprocessing_context", "timeout"):
            kwargs.pop(name, None)
        if len(args) < 6:
            kwargs["num_workers"] = 0
        begin(self, *args[:5], *([0] if len(args) == 6 else []), **kwargs)

    torch.utils.data.DataLoader.__init__ = initialise


def _copied(self, memo):
    """A deep copy of a tensor without storage; PyTorch's own would copy the mode, too."""
    copy = self.detach().clone().requires_grad_(self.requires_grad)
    if isinstance(self, torch.nn.Parameter):
        copy = torch.nn.Parameter(copy, self.requires_grad)
    memo[id(self)] = copy
    return copy


def _spawn(function, args=(), nprocs=1, *others, **kwargs):
    """Of the processes of a server, the first alone."""
    function(0, *args)


def install(recorder, count, finished):
    """Puts the stand-ins in place for a job of `count` ranks; `finished` is called after each step of an optimizer."""
    import torch.distributed
    import torch.multiprocessing
    import torch.nn.parallel
    import torch.utils.data
    os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE=str(count), LOCAL_WORLD_SIZE=str(min(count, 8)),
                      GROUP_RANK="0", MASTER_ADDR="127.0.0.1", MASTER_PORT="29500")
    for name, value in _gpus(count).items():
        setattr(torch.cuda, name, value)
    ranks = Ranks(recorder, count)
    for name, value in ranks.members().items():
        setattr(torch.distributed, name, value)
    parallel = _data_parallel(ranks)
    torch.nn.parallel.DistributedDataParallel = parallel
    torch.nn.parallel.__dict__.get("distributed", types.SimpleNamespace()).DistributedDataParallel = parallel
    Autocast.recorder = recorder
    torch.autocast = Autocast
    for where in ("torch.cuda.amp", "torch.amp", "torch.cpu.amp"):
        module = sys.modules.get(where)
        if module is not None and hasattr(module, "autocast"):
            module.autocast = Autocast if where == "torch.amp" else CudaAutocast
        if module is not None and hasattr(module, "GradScaler"):
            module.GradScaler = functools.partial(_scaler(module.GradScaler))
    torch.autograd.profiler.record_function = torch.profiler.record_function = _Nothing
    torch.profiler.profile = _Nothing
    torch.nn.functional.scaled_dot_product_attention = _attention(recorder)
    torch.nn.functional.dropout = _dropout
    torch.multiprocessing.spawn = _spawn
    if hasattr(torch, "compile"):
        torch.compile = lambda model=None, *args, **kwargs: model if model is not None else (lambda each: each)
    if recorder.fake is not None:
        FakeTensor.__deepcopy__ = _copied
    _watch_optimizers(recorder, finished)
    _watch_backward(recorder)
    _plain_loader(recorder)
    torch.nn.modules.module.register_module_forward_pre_hook(recorder.enter)
    torch.nn.modules.module.register_module_forward_hook(lambda module, inputs, result: recorder.leave(module, result))


def _scaler(kind):
    """A scaler of losses that scales nothing, whatever it is asked."""
    def make(*args, **kwargs):
        kwargs["enabled"] = False
        return kind(*args[:1], **kwargs) if kind.__module__.startswith("torch.amp") else kind(**kwargs)
    return make

"""Records the operators of one training step as layers: a dispatch mode sees operators, a function mode the calls between
which autograd makes its nodes, and hooks of modules give names.
"""

import math
import weakref

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

import capture_operators as operators

try:
    from torch._subclasses import FakeTensor, FakeTensorMode
except ImportError:  # a PyTorch without tensors that have no storage
    FakeTensor = FakeTensorMode = None


def tensors_in(*values):
    return [each for value in values for each in tree_flatten(value)[0] if isinstance(each, torch.Tensor)]


def storage_of(tensor):
    """What all views of a tensor have in common."""
    try:
        return (tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage())._cdata
    except (NotImplementedError, RuntimeError):
        return id(tensor)


class Parameter:
    """A parameter of the program's model."""

    def __init__(self, name, tensor):
        self.name, self.shape, self.trained = name, tuple(tensor.shape), tensor.requires_grad
        self.layer = None  # the first that uses it

    @property
    def elements(self):
        return math.prod(self.shape)

    def is_gradient(self, shape):
        return len(self.shape) == 2 and tuple(shape) in (self.shape, self.shape[::-1])


class Layer:
    """Operators of the forward pass that make one layer: all of a module without modules inside, or a single one."""

    def __init__(self, name):
        self.name, self.joined = name, None
        self.operators, self.geometries, self.parameters = [], [], []
        self.forward, self.by_input, self.by_weight, self.recomputed = 0, 0, 0, 0
        self.read, self.written, self.kernels, self.written_bytes = 0, 0, 0, 0
        self.fused, self.needs_gradient, self.has_graph = False, False, torch.is_grad_enabled()
        self.dtype = None

    @property
    def final(self):
        return self if self.joined is None else self.joined.final

    def join(self, other):
        """Takes the operators of a layer that follows."""
        other.joined = self
        self.operators += other.operators
        self.geometries += other.geometries
        self.parameters += [each for each in other.parameters if each not in self.parameters]
        for name in ("forward", "by_input", "by_weight", "recomputed", "read", "written", "kernels", "written_bytes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.dtype = self.dtype if self.forward > other.forward else other.dtype or self.dtype
        self.needs_gradient = self.needs_gradient or other.needs_gradient

    def kind(self):
        has_weight = any(len(each.shape) > 1 for each in self.parameters)
        products = [each for each in self.operators if operators.is_product(each)]
        if products and has_weight:
            return "convolution" if all(map(operators.is_convolution, products)) else "linear"
        if products:
            return "attention"
        kinds = {operators.kind_of(each) for each in self.operators}
        if "embedding" in kinds and not has_weight:
            kinds.discard("embedding")
        if self.parameters and "embedding" not in kinds:
            return "normalization"
        order = ("embedding", "normalization", "pooling", "activation")
        return next((each for each in order if each in kinds), "elementwise")

    def signature(self):
        return (self.name, self.forward, self.by_input, self.by_weight, self.read, self.written)


class Call:
    """A call of a module that hasn't returned."""

    def __init__(self, module, name, first):
        self.module, self.name, self.first, self.has_calls = module, name, first, False


class Collective:
    def __init__(self, kind, ranks, size, phase):
        self.kind, self.ranks, self.bytes, self.phase = kind, tuple(ranks), size, phase


class Step:
    """What one step did so far."""

    def __init__(self):
        self.layers, self.collectives = [], []
        self.micro_batches = []  # the layers of each, once a backward pass has ended
        self.optimizer_operators, self.outside, self.backwards = 0, 0, 0
        self.unplaced = 0  # flops of the backward pass of no layer
        self.values_read = 0
        self.optimizer = None

    def all_layers(self):
        return [each for batch in self.micro_batches for each in batch] + self.layers


class Recorder(TorchDispatchMode):
    """Watches operators. `fake` is the mode that makes tensors without storage, None where tensors are real."""

    def __init__(self, fake):
        super().__init__()
        self.fake = fake
        self.step = Step()
        self.phase = "forward"  # or backward, update
        self.calls = []
        self.pending = []  # operators of the node of the backward pass that runs
        self.last = None  # the layer of the last operator
        self.nodes = {}
        self.parameters, self.casts = {}, []
        self.names, self.roots = weakref.WeakKeyDictionary(), 0
        self.samples = None
        self.autocast = set()
        self.fused = None  # the layer that attention in one kernel makes
        self.after_backward = []  # exchanges of gradients that are due then

    def begin_step(self):
        self.step, self.phase, self.last = Step(), "forward", None
        self.nodes.clear()

    # Operators

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = func._schema.name
        if self.fake is not None:
            if name in ("aten::_local_scalar_dense", "aten::equal"):
                self.step.values_read += self.phase != "update"  # optimizers ask for their counters
                return False if name == "aten::equal" or args[0].dtype == torch.bool else 1
            if name not in ("aten::lift_fresh", "aten::lift"):  # which make such tensors themselves
                args, kwargs = tree_map(self._as_fake, args), tree_map(self._as_fake, kwargs)
        out = func(*args, **kwargs)
        if name.startswith("aten::") and not operators.is_view(name, func._schema):
            self._record(name, args, kwargs, tensors_in(out))
        return out

    def _as_fake(self, value):
        if isinstance(value, torch.Tensor) and not isinstance(value, FakeTensor):
            return self.fake.from_tensor(value)
        return value

    def _record(self, name, args, kwargs, outs):
        if self.phase == "update":
            self.step.optimizer_operators += 1
            return
        ins = tensors_in(args, kwargs)
        used = [self.parameters[key] for key in dict.fromkeys(map(storage_of, ins)) if key in self.parameters]
        if name in ("aten::_to_copy", "aten::clone") and used:  # the cast of a weight is that weight
            self.parameters[storage_of(outs[0])] = used[0]
            self.casts.append(outs[0])
        if self.phase == "backward" and not self.calls:
            self.pending.append(self._backward_flops(name, args, outs, bool(used)))
        elif self.phase == "backward":
            self._recompute(name, ins, operators.forward_flops(name, args, outs))
        elif not self.calls and not (torch.is_grad_enabled() and any(each.requires_grad for each in ins)):
            self.step.outside += 1
        elif ins and outs and not (outs[0].numel() == 1 and not outs[0].is_floating_point()):
            self._forward(name, args, ins, outs, used)

    def _forward(self, name, args, ins, outs, used):
        call = self.calls[-1] if self.calls else None
        short = operators.short_name(name)
        layer = self.fused or Layer(f"{call.name}.{short}" if call and call.name else short)
        layer.operators.append(name)
        layer.parameters += [each for each in used if each not in layer.parameters]
        layer.forward += operators.forward_flops(name, args, outs)
        layer.dtype = outs[0].dtype
        if self.fused is None:
            self._move(layer, name, ins, outs[0])
            layer.geometries += [operators.geometry(name, args, outs, self.samples or 1)] if operators.is_product(
                name) else []
            self.step.layers.append(layer)
        self.last = layer

    def _move(self, layer, name, ins, out):
        distinct = {storage_of(each): each for each in ins}
        layer.read += sum(each.numel() for key, each in distinct.items() if key not in self.parameters)
        if "embedding" in name:  # a look-up reads the rows that it returns
            layer.read = out.numel()
        layer.written += out.numel()
        layer.written_bytes += out.numel() * out.element_size()
        layer.kernels += 1
        others = [each for key, each in distinct.items() if key not in self.parameters]
        layer.needs_gradient = layer.needs_gradient or any(each.requires_grad for each in others)

    def _backward_flops(self, name, args, outs, by_weight):
        if name == "aten::convolution_backward":
            return operators.convolution_gradients(args) + ((), False)
        flops = operators.forward_flops(name, args, outs)
        return (flops, 0, tuple(outs[0].shape) if outs else (), by_weight)

    def _recompute(self, name, ins, flops):
        """An operator of a module that runs in the backward pass once more."""
        module = self.calls[-1].name
        names = {self.fused.name if self.fused else f"{module}.{operators.short_name(name)}", module}
        self.last = next((each for each in self.step.layers if each.name in names), None)
        if self.last is None:
            self.step.unplaced += flops
        else:
            self.last.recomputed += flops
            self.last.needs_gradient = self.last.needs_gradient or any(each.requires_grad for each in ins)

    # Nodes of autograd

    def tag(self, values):
        """Gives the nodes behind these tensors that are new to the layer of the last operator."""
        if self.last is None or not torch.is_grad_enabled():
            return
        waiting = [each.grad_fn for each in values if each.requires_grad and each.grad_fn is not None]
        while waiting:
            node = waiting.pop()
            if node in self.nodes:
                continue
            layer = self.nodes[node] = self.last
            node.register_hook(lambda *_, layer=layer: self._ran(layer))
            waiting += [each for each, _ in node.next_functions if each is not None]

    def _ran(self, layer):
        layer = layer.final
        for by_input, by_weight, shape, has_weight in self.pending:
            if by_input and not has_weight and any(each.is_gradient(shape) for each in layer.parameters):
                by_input, by_weight = 0, by_input
            layer.by_input += by_input
            layer.by_weight += by_weight
        self.pending.clear()

    def begin_backward(self, values):
        self.tag(tensors_in(values))
        self.phase = "backward"

    def end_backward(self):
        self.step.unplaced += sum(each[0] + each[1] for each in self.pending)
        self.pending.clear()
        self.step.backwards += 1
        self.step.micro_batches.append(self.step.layers)
        self.step.layers = []
        self.last = None
        self.nodes.clear()
        exchanges, self.after_backward = self.after_backward, []
        for exchange in exchanges:
            exchange()
        self.phase = "forward"

    # Modules

    def enter(self, module, inputs):
        if not self.calls:
            self._begin_root(module, inputs)
        else:
            self.calls[-1].has_calls = True
        if self.samples is None and self.parameters:  # rows of the first tensor that the model gets
            first = next((each for each in tensors_in(inputs) if each.dim() > 0), None)
            self.samples = None if first is None else first.shape[0]
        name = self.names.get(module)
        if name is None:  # made during the call
            name = f"{self.calls[-1].name}.{type(module).__name__}" if self.calls else type(module).__name__
        self.calls.append(Call(module, name, len(self.step.layers)))

    def leave(self, module, result):
        self.tag(tensors_in(result) if isinstance(result, (torch.Tensor, tuple, list, dict)) else [])
        while self.calls:  # calls that an exception ended are still there
            call = self.calls.pop()
            if call.module is module:
                break
        if self.phase == "forward" and not call.has_calls and len(self.step.layers) > call.first:
            first, *others = self.step.layers[call.first:]
            for each in others:
                first.join(each)
            first.name = call.name or type(module).__name__
            del self.step.layers[call.first + 1:]

    def _begin_root(self, module, inputs):
        if module not in self.names:
            is_model = any(True for _ in module.parameters())
            root = "" if is_model and self.roots == 0 else type(module).__name__
            self.roots += is_model
            for name, each in module.named_modules():
                inner = name[len("module."):] if name.startswith("module.") else "" if name == "module" else name
                self.names.setdefault(each, f"{root}.{inner}" if root and inner else root or inner)
        for name, each in module.named_parameters():
            key = storage_of(each)
            if key not in self.parameters:
                owner, _, last = name.rpartition(".")
                inside = dict(module.named_modules()).get(owner)
                owner = self.names.get(inside, owner)
                self.parameters[key] = Parameter(f"{owner}.{last}" if owner else last, each)

    def distinct_parameters(self):
        return list(dict.fromkeys(self.parameters.values()))


class Calls(TorchFunctionMode):
    """Sees calls of PyTorch's functions: they run on the one device that there is, and their nodes get their layers."""

    def __init__(self, recorder):
        super().__init__()
        self.recorder = recorder

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in ("cuda", "pin_memory") and args and isinstance(args[0], torch.Tensor):
            return args[0]
        if name in ("numpy", "tolist", "__array__") and self.recorder.fake is not None:
            return self._without_values(name, args[0])
        if args or kwargs:
            if name == "to" and len(args) > 1 and type(args[1]) is int:  # the number of a GPU
                args = (args[0], "cpu", *args[2:])
            args, kwargs = tuple(map(_on_host, args)), {key: _on_host(value) for key, value in kwargs.items()}
            if type(kwargs.get("device")) is int:
                kwargs["device"] = "cpu"
        out = func(*args, **kwargs)
        if name not in ("__get__", "backward"):
            self.recorder.tag([out] if isinstance(out, torch.Tensor) else
                              [each for each in out if isinstance(each, torch.Tensor)]
                              if isinstance(out, (tuple, list)) else [])
        return out

    def _without_values(self, name, tensor):
        import numpy
        self.recorder.step.values_read += tensor.numel()
        kind = str(tensor.dtype).split(".")[-1]
        zeros = numpy.zeros(tuple(tensor.shape), dtype="float32" if kind == "bfloat16" else kind)
        return zeros.tolist() if name == "tolist" else zeros


def _on_host(value):
    """A GPU as the device that tensors without storage, or real ones, have here."""
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("cpu")
    if isinstance(value, str) and (value == "cuda" or value.startswith("cuda:")):
        return "cpu"
    return value

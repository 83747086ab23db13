#!/usr/bin/env python3
"""Measures training steps in PyTorch on the local GPU, for comparison with the predictions of a calibration.

  scripts/measure_training_steps.py -o steps.json
  scripts/measure_training_steps.py -o steps.json --only resnet50,gpt2 --batch resnet50=128
  scripts/measure_training_steps.py -o layers.json --layers-only --numbers bf16

A step is: forward pass, loss, backward pass, SGD with momentum (ResNet-50) or Adam, in one kernel. Input lies on the
device already. A step is captured into a CUDA graph and replayed, so that its time is the device's; --eager lets the
host launch each kernel, which takes longer than the kernels of small batches. Each step is timed by CUDA events; the file
gives the median over the steps and the 95% interval of the median, in ms. Convolutions choose their algorithm by cuDNN's
search (cudnn.benchmark). Numbers are

  fp32   no tf32 anywhere           tf32   tf32 in products and convolutions
  fp16   autocast with loss scaling; channels last for ResNet-50          bf16   autocast without

With --layers-only, a step is the forward and backward pass of all layers: weights have the numbers of the computation, so
nothing is cast, the gradients of the outputs are given instead of a loss, and there is no update.

The networks are torchvision's ResNet-50 and transformers' BERT-Base (with both heads of its pre-training) and GPT-2,
where these packages are; else, and with --own, the definitions below, which have the same layers. The file says which
were used. As in the catalogue of `contend`, attention is two products with a softmax between them, and with --fused one kernel;
the activation of GPT-2 is one kernel. `llama-3-8b` is one layer of it, by PyTorch's fused attention: the mean of four
layers, always as with --layers-only. Exit code 5 without PyTorch or a GPU, 1 if a case failed for another reason than
memory.
"""

import argparse
import datetime
import json
import math
import os
import sys

MODELS = {"resnet50": 64, "bert-base": 16, "gpt2": 4, "llama-3-8b": 1}
NUMBERS = ["fp32", "tf32", "fp16", "bf16"]
SEQUENCE = {"bert-base": 128, "gpt2": 1024, "llama-3-8b": 4096}
LLAMA_LAYERS = 4
VOCABULARY = {"bert-base": 30522, "gpt2": 50257}
NO_DEVICE = 5

try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError as error:
    torch = None
    missing = str(error)


def own_resnet50():
    """He et al., CVPR 2016, with the stride in the 3x3 convolution, as torchvision has it."""

    def convolution(inputs, outputs, kernel, stride=1):
        return nn.Sequential(
            nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs))

    class Bottleneck(nn.Module):
        def __init__(self, inputs, width, stride):
            super().__init__()
            self.one = convolution(inputs, width, 1)
            self.two = convolution(width, width, 3, stride)
            self.three = convolution(width, 4 * width, 1)
            change = stride != 1 or inputs != 4 * width
            self.shortcut = convolution(inputs, 4 * width, 1, stride) if change else nn.Identity()

        def forward(self, x):
            y = functional.relu(self.one(x), inplace=True)
            y = functional.relu(self.two(y), inplace=True)
            return functional.relu(self.three(y) + self.shortcut(x), inplace=True)

    layers = [convolution(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for width, blocks, stride in [(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)]:
        for block in range(blocks):
            layers.append(Bottleneck(inputs, width, stride if block == 0 else 1))
            inputs = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


def own_transformer(vocabulary, positions, causal, fused):
    """12 layers of 12 heads of 64: BERT-Base (Devlin et al., NAACL 2019) with its normalisation after each part and its
    head over the vocabulary, or GPT-2 (Radford et al., 2019) with it before. The output has the weights of the input."""
    width, heads, depth = 768, 12, 12

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            # GPT-2 has one product for queries, keys and values, BERT one for each.
            self.inputs = nn.ModuleList([nn.Linear(width, 3 * width)] if causal else
                                        [nn.Linear(width, width) for _ in range(3)])
            self.out = nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.dropout = nn.Dropout(0.1)

        def attend(self, x, later):
            batch, length, _ = x.shape
            parts = [part for each in self.inputs for part in each(x).split(width, dim=-1)]
            q, k, v = (part.view(batch, length, heads, width // heads).transpose(1, 2) for part in parts)
            if fused:
                y = functional.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout.p, is_causal=causal)
                return self.dropout(self.out(y.transpose(1, 2).reshape(batch, length, width)))
            scores = (q * (width // heads) ** -0.5) @ k.transpose(-1, -2)
            if causal:
                scores = scores.masked_fill(later, float("-inf"))
            y = self.dropout(scores.softmax(-1)) @ v
            return self.dropout(self.out(y.transpose(1, 2).reshape(batch, length, width)))

        def feed(self, x):
            return self.dropout(self.down(functional.gelu(self.up(x), approximate="tanh" if causal else "none")))

        def forward(self, x, later):
            if causal:
                x = x + self.attend(self.norm1(x), later)
                return x + self.feed(self.norm2(x))
            x = self.norm1(x + self.attend(x, later))
            return self.norm2(x + self.feed(x))

    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
            self.norm, self.dropout = nn.LayerNorm(width), nn.Dropout(0.1)
            self.layers = nn.ModuleList(Layer() for _ in range(depth))
            if not causal:
                self.kinds = nn.Embedding(2, width)
                self.transform, self.transform_norm = nn.Linear(width, width), nn.LayerNorm(width)
                self.bias = nn.Parameter(torch.zeros(vocabulary))
                self.pooler, self.relationship = nn.Linear(width, width), nn.Linear(width, 2)

        def forward(self, ids):
            length = ids.shape[1]
            later = torch.ones(length, length, dtype=torch.bool, device=ids.device).triu(1)
            x = self.tokens(ids) + self.places(torch.arange(length, device=ids.device))
            if causal:
                x = self.dropout(x)
            else:
                x = self.dropout(self.norm(x + self.kinds(torch.zeros_like(ids))))
            for layer in self.layers:
                x = layer(x, later)
            if causal:
                return functional.linear(self.norm(x), self.tokens.weight)
            relationship = self.relationship(torch.tanh(self.pooler(x[:, 0])))
            x = self.transform_norm(functional.gelu(self.transform(x)))
            return functional.linear(x, self.tokens.weight, self.bias), relationship

    return Transformer()


def own_llama():
    """Layers of Llama-3-8B (arXiv 2407.21783, table 3), without embedding and head. Rotary positions and the gate are
    chains of kernels."""
    width, heads, shared, hidden = 4096, 32, 8, 14336
    size = width // heads

    def turn(x, cosine, sine):
        low, high = x.chunk(2, dim=-1)
        return x * cosine + torch.cat((-high, low), dim=-1) * sine

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.queries = nn.Linear(width, width, bias=False)
            self.keys, self.values = (nn.Linear(width, shared * size, bias=False) for _ in range(2))
            self.out = nn.Linear(width, width, bias=False)
            self.gate, self.up = (nn.Linear(width, hidden, bias=False) for _ in range(2))
            self.down = nn.Linear(hidden, width, bias=False)
            self.before, self.between = nn.RMSNorm(width, 1e-5), nn.RMSNorm(width, 1e-5)

        def forward(self, x, cosine, sine):
            batch, length, _ = x.shape
            y = self.before(x)
            q, k, v = (each(y).view(batch, length, -1, size).transpose(1, 2)
                       for each in (self.queries, self.keys, self.values))
            y = functional.scaled_dot_product_attention(
                turn(q, cosine, sine), turn(k, cosine, sine), v, is_causal=True, enable_gqa=True)
            x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
            y = self.between(x)
            return x + self.down(functional.silu(self.gate(y)) * self.up(y))

    class Layers(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(Layer() for _ in range(LLAMA_LAYERS))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device, dtype=torch.float32)
            turns = places[:, None] * 500000.0 ** -(torch.arange(0, size, 2, device=x.device) / size)
            cosine, sine = (function(torch.cat((turns, turns), -1)).to(x.dtype) for function in (torch.cos, torch.sin))
            for layer in self.layers:
                x = layer(x, cosine, sine)
            return x

    return Layers()


def logits_of(model, names):
    """A model of transformers as a module from token numbers to logits: its outputs that have these names."""

    class Logits(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, ids):
            outputs = self.model(input_ids=ids)
            return tuple(getattr(outputs, name) for name in names)

    return Logits()


def build(name, own, fused):
    """Returns (model, where it is from)."""
    if name == "llama-3-8b":
        return own_llama(), "own definition"
    try:
        if own:
            raise ImportError("it was asked for")
        if name == "resnet50":
            import torchvision

            return torchvision.models.resnet50(weights=None), f"torchvision {torchvision.__version__}"
        import transformers

        source = f"transformers {transformers.__version__}"
        if name == "bert-base":
            config, names = transformers.BertConfig(), ["prediction_logits", "seq_relationship_logits"]
        else:
            config = transformers.GPT2Config(use_cache=False, activation_function="gelu_pytorch_tanh")
            names = ["logits"]
        kind = "sdpa" if fused else "eager"
        model = transformers.AutoModelForPreTraining.from_config(config, attn_implementation=kind)
        return logits_of(model, names), source
    except (ImportError, AttributeError, RuntimeError, TypeError, ValueError) as error:
        print(f"{name}: own definition, since {error}", file=sys.stderr)
    if name == "resnet50":
        return own_resnet50(), "own definition"
    positions = 512 if name == "bert-base" else 1024
    return own_transformer(VOCABULARY[name], positions, name == "gpt2", fused), "own definition"


def set_tf32(allowed):
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed
    torch.backends.cudnn.benchmark = True


def make_step(name, numbers, batch, layers_only, own, fused):
    """Returns (function that enqueues one training step, where the model is from, how the step is set up)."""
    torch.manual_seed(0)
    set_tf32(numbers != "fp32")
    device = torch.device("cuda")
    with device:
        model, source = build(name, own, fused)
    model = model.to(device).train()
    half = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(numbers)
    if layers_only and half:
        model = model.to(half)
    setup = {"optimizer": "none" if layers_only else ("sgd with momentum" if name == "resnet50" else "adam") + ", fused"}
    if name == "resnet50":
        layout = torch.channels_last if half else torch.contiguous_format
        setup["layout"] = "nhwc" if layout == torch.channels_last else "nchw"
        model = model.to(memory_format=layout)
        inputs = torch.randn(batch, 3, 224, 224, device=device).to(memory_format=layout)
        targets = [torch.randint(1000, (batch,), device=device)]
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True)
    else:
        setup["sequence"] = SEQUENCE[name]
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-5, fused=True, capturable=True)
    if fused and name in ("bert-base", "gpt2"):
        setup["attention"] = "fused"
    if name == "llama-3-8b":
        setup.update(part="model.layers.0.", copies=LLAMA_LAYERS)
        inputs = torch.randn(batch, SEQUENCE[name], 4096, device=device, requires_grad=True)
    elif name != "resnet50":
        inputs = torch.randint(VOCABULARY[name], (batch, SEQUENCE[name]), device=device)
        targets = [inputs.reshape(-1)]
        if name == "bert-base":
            targets.append(torch.randint(2, (batch,), device=device))
    setup["parameters"] = sum(p.numel() for p in model.parameters()) // setup.get("copies", 1)

    if layers_only:
        if half and inputs.is_floating_point():
            inputs = inputs.to(half).detach().requires_grad_(inputs.requires_grad)
        outputs = model(inputs)
        gradients = tuple(torch.randn_like(each) for each in (outputs if isinstance(outputs, tuple) else (outputs,)))

        def passes():
            optimizer.zero_grad(set_to_none=True)
            inputs.grad = None
            outputs = model(inputs)
            torch.autograd.backward(outputs if isinstance(outputs, tuple) else (outputs,), gradients)

        return passes, source, setup

    scaler = torch.amp.GradScaler("cuda", enabled=numbers == "fp16")

    def step():
        optimizer.zero_grad(set_to_none=True)
        # If autocast kept casts of weights, every replay would use the casts of the capture.
        with torch.autocast("cuda", dtype=half or torch.float16, enabled=half is not None, cache_enabled=False):
            outputs = model(inputs)
            pairs = zip(outputs if isinstance(outputs, tuple) else (outputs,), targets)
            loss = sum(functional.cross_entropy(each.reshape(-1, each.shape[-1]), target) for each, target in pairs)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    return step, source, setup


def captured(step, warm_up):
    """The step as a graph; the first executions choose algorithms and allocate."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(warm_up):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        step()
    return graph.replay


def median_interval(values):
    """Median and the 95% interval of it, by ranks (binomial distribution, normal approximation)."""
    ordered = sorted(values)
    count = len(ordered)
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    reach = 1.96 * math.sqrt(count) / 2
    low = max(0, math.floor(count / 2 - reach))
    high = min(count - 1, math.ceil(count / 2 + reach))
    return middle, ordered[low], ordered[high]


def measure(step, warm_up, steps):
    for _ in range(warm_up):
        step()
    torch.cuda.synchronize()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
    events[0].record()
    for event in events[1:]:
        step()
        event.record()
    torch.cuda.synchronize()
    return [a.elapsed_time(b) for a, b in zip(events, events[1:])]


def kernels_of(step):
    """Milliseconds of each kernel in a step, and how often it runs."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        step()
        torch.cuda.synchronize()
    found = {each.key: (each.self_device_time_total / 1e3, each.count) for each in profile.key_averages()}
    return dict(sorted(found.items(), key=lambda item: -item[1][0]))


def measure_case(name, numbers, batch, arguments):
    case = {"model": name, "numbers": numbers, "batch": batch}
    # PyTorch says that older devices have bf16, too, which it then emulates.
    layers_only = arguments.layers_only or name == "llama-3-8b"
    if numbers in ("tf32", "bf16") and torch.cuda.get_device_capability()[0] < 8:
        return {**case, "skipped": f"the device has no {numbers}"}
    try:
        torch.cuda.reset_peak_memory_stats()
        step, source, setup = make_step(name, numbers, batch, layers_only, arguments.own, arguments.fused)
        if arguments.kernels:
            step()
            setup["kernels"] = kernels_of(step)
        setup["launched_by"] = "the host" if arguments.eager else "a graph"
        if not arguments.eager:
            step = captured(step, arguments.warm_up)
        times = [each / setup.get("copies", 1) for each in measure(step, arguments.warm_up, arguments.steps)]
    except torch.cuda.OutOfMemoryError:
        return {**case, "skipped": "out of memory"}
    except RuntimeError as error:  # of a library; other cases may do
        return {**case, "skipped": "failed: " + (str(error).strip().splitlines() or [type(error).__name__])[0]}
    middle, low, high = median_interval(times)
    return {
        **case, "source": source, **setup, "steps": len(times), "median_ms": middle, "low_ms": low, "high_ms": high,
        "peak_memory_bytes": torch.cuda.max_memory_allocated()}


def read_batches(texts):
    batches = dict(MODELS)
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or name not in batches or not value.isdigit() or int(value) < 1:
            raise argparse.ArgumentTypeError(f"--batch takes MODEL=NUMBER with one of {', '.join(MODELS)}, not {text}")
        batches[name] = int(value)
    return batches


def describe_device():
    properties = torch.cuda.get_device_properties(0)
    return {
        "name": properties.name,
        "capability": f"{properties.major}.{properties.minor}",
        "multiprocessors": properties.multi_processor_count,
        "memory_bytes": properties.total_memory,
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
    }


def write(path, result):
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    os.replace(path + ".tmp", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--out", required=True, help="JSON file")
    parser.add_argument("--only", default=",".join(MODELS), help="models, separated by commas")
    parser.add_argument("--numbers", default=",".join(NUMBERS), help="number formats, separated by commas")
    parser.add_argument("--batch", action="append", default=[], metavar="MODEL=NUMBER")
    parser.add_argument("--layers-only", action="store_true", help="forward and backward pass of the layers, nothing else")
    parser.add_argument("--eager", action="store_true", help="the host launches each kernel, instead of a graph")
    parser.add_argument("--own", action="store_true", help="the definitions of this file instead of those of packages")
    parser.add_argument("--fused", action="store_true", help="fused attention in BERT and GPT-2")
    parser.add_argument("--kernels", action="store_true", help="also keep the time of each kernel, by PyTorch's profiler")
    parser.add_argument("--steps", type=int, default=40, help="number of timed steps, at least 8")
    parser.add_argument("--warm-up", type=int, default=10, help="number of untimed steps before; cuDNN searches algorithms in the first")
    arguments = parser.parse_args()
    names, numbers = arguments.only.split(","), arguments.numbers.split(",")
    for what, given, known in [("model", names, MODELS), ("number format", numbers, NUMBERS)]:
        for each in given:
            if each not in known:
                parser.error(f"no {what} {each}: there are {', '.join(known)}")
    if arguments.steps < 8 or arguments.warm_up < 1:
        parser.error("--steps must be at least 8, --warm-up at least 1")
    try:
        batches = read_batches(arguments.batch)
    except argparse.ArgumentTypeError as error:
        parser.error(str(error))
    if torch is None:
        print(f"measure_training_steps: PyTorch can't be imported: {missing}", file=sys.stderr)
        return NO_DEVICE
    if not torch.cuda.is_available():
        print("measure_training_steps: PyTorch sees no CUDA device", file=sys.stderr)
        return NO_DEVICE

    result = {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "device": describe_device(), "complete": False, "cases": []}
    for name in names:
        for each in numbers:
            case = measure_case(name, each, batches[name], arguments)
            result["cases"].append(case)
            write(arguments.out, result)  # what is done is kept if the rest isn't
            torch.cuda.empty_cache()
            text = case.get("skipped") or f"{case['median_ms']:.3f} ms ({case['low_ms']:.3f} to {case['high_ms']:.3f})"
            print(f"{name:10} {each:5} batch {batches[name]:4}  {text}", flush=True)
    result["complete"] = True
    write(arguments.out, result)
    return 1 if any(case.get("skipped", "").startswith("failed") for case in result["cases"]) else 0


if __name__ == "__main__":
    sys.exit(main())

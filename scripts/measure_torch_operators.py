#!/usr/bin/env python3
"""Measures operators of a profile in PyTorch on the same GPU, and prints how long the profile's take beside them.

  scripts/measure_torch_operators.py gpu.yaml -o torch.json                     all operators that PyTorch has, some shapes
  scripts/measure_torch_operators.py gpu.yaml -o torch.json --only softmax      operators whose names begin with these
  scripts/measure_torch_operators.py gpu.yaml -o torch.json --profile torch.yaml --types bf16 --shapes 0
                                                   all shapes of the profile, and a profile of what was measured

`contend calibrate merge gpu.yaml torch.yaml` makes of both a profile for what runs in PyTorch.

Each operation is captured into a CUDA graph many times over and replayed, so that the host's part is in no figure; the
figure is the median of the replays, with its 95% interval. Operands stay where they are, as in a calibration. Operators
of compression are chains of the framework's own kernels, as published implementations of the methods run them: their
ratio is what fused kernels save. Copies aren't
measured: those within a graph take longer than others. Exit code 5 without PyTorch or a GPU.
"""

import argparse
import datetime
import gc
import itertools
import json
import math
import os
import re
import statistics
import sys
import time

NO_DEVICE = 5
try:
    import torch
    from torch.nn import functional
except ImportError as error:
    torch = None
    missing = str(error)


def tables(path):
    """The samples of a profile: {(operator, type): [(shape, seconds)]}."""
    found, op, key, sizes = {}, None, None, 0
    with open(path, encoding="utf-8") as file:
        for text in file:
            if match := re.match(r"  - op: (\w+)$", text):
                op = match[1]
            elif match := re.match(r"    type: (\w+)$", text):
                key = (op, match[1])
                found[key] = []
            elif match := re.match(r"    dimensions: \[(.*)\]$", text):
                sizes = len(match[1].split(", "))
            elif match := re.match(r"      - \[(.*)\]$", text):
                numbers = match[1].split(", ")
                found[key].append((tuple(int(each) for each in numbers[:sizes]), float(numbers[sizes])))
    return found


def normal(*sizes, kind=None):
    return torch.randn(*sizes, device="cuda").to(kind or torch.float32)


def layout_of(kind):
    """Of images: tensor cores prefer channels last, and 32 bits are trained with channels first."""
    return torch.contiguous_format if kind == torch.float32 else torch.channels_last


def product(transpose_a, transpose_b):
    def make(kind, batch, m, n, k):
        a = normal(batch, k, m, kind=kind).transpose(1, 2) if transpose_a else normal(batch, m, k, kind=kind)
        b = normal(batch, n, k, kind=kind).transpose(1, 2) if transpose_b else normal(batch, k, n, kind=kind)
        out = torch.empty(batch, m, n, device="cuda", dtype=kind)
        # As in a calibration, copies of b take turns, so that it comes from memory.
        cache = torch.cuda.get_device_properties(0).L2_cache_size
        size = b.numel() * b.element_size()
        copies = 1 if size >= 2 * cache else min(64, -(-2 * cache // size) + 1)
        turns = itertools.cycle([b] + [b.clone() for _ in range(copies - 1)])
        if batch == 1:
            return lambda: torch.mm(a[0], next(turns)[0], out=out[0])
        return lambda: torch.bmm(a, next(turns), out=out)

    return make


def convolve(direction):
    def make(kind, batch, inputs, height, width, outputs, kernel_height, kernel_width, stride, pad_height, pad_width):
        layout = layout_of(kind)
        x = normal(batch, inputs, height, width, kind=kind).to(memory_format=layout)
        w = normal(outputs, inputs, kernel_height, kernel_width, kind=kind).to(memory_format=layout)
        pad, steps = (pad_height, pad_width), (stride, stride)
        if direction == 0:
            return lambda: functional.conv2d(x, w, None, steps, pad)
        y = torch.randn_like(functional.conv2d(x, w, None, steps, pad))
        mask = [direction == 1, direction == 2, False]
        return lambda: torch.ops.aten.convolution_backward(y, x, w, None, steps, pad, (1, 1), False, (0, 0), 1, mask)

    return make


def attend(causal, backward):
    def make(kind, batch, heads, shared, sequence, size):
        q = normal(batch, heads, sequence, size, kind=kind).requires_grad_(backward)
        k, v = (normal(batch, shared, sequence, size, kind=kind).requires_grad_(backward) for _ in range(2))
        forward = lambda: functional.scaled_dot_product_attention(  # noqa: E731
            q, k, v, is_causal=causal, enable_gqa=shared != heads)
        if not backward:
            return forward
        out = forward()
        d_out = torch.randn_like(out)
        return lambda: torch.autograd.grad(out, (q, k, v), d_out, retain_graph=True)

    return make


def rows(name):
    def make(kind, count, width):
        x, dy = normal(count, width, kind=kind), normal(count, width, kind=kind)
        # The profile's kernels have fp32 parameters of normalisations, PyTorch's have the tensor's type.
        gamma, beta = normal(width, kind=kind), normal(width, kind=kind)
        if name == "column_sum":
            return lambda: x.sum(0)
        if name == "softmax":
            return lambda: torch.softmax(x, -1)
        if name == "softmax_backward":
            y = torch.softmax(x, -1)
            return lambda: torch.ops.aten._softmax_backward_data(dy, y, -1, kind)
        if name == "layer_norm":
            return lambda: functional.layer_norm(x, (width,), gamma, beta)
        if name == "layer_norm_backward":
            _, mean, deviation = torch.ops.aten.native_layer_norm(x, (width,), gamma, beta, 1e-5)
            return lambda: torch.ops.aten.native_layer_norm_backward(
                dy, x, (width,), mean, deviation, gamma, beta, [True, True, True])
        if name == "rms_norm":
            return lambda: functional.rms_norm(x, (width,), gamma)
        if name == "rms_norm_backward":
            _, deviation = torch.ops.aten._fused_rms_norm(x, (width,), gamma, 1e-5)
            return lambda: torch.ops.aten._fused_rms_norm_backward(dy, x, (width,), deviation, gamma, [True, True])
        targets = torch.randint(width, (count,), device="cuda")
        x.requires_grad_(True)

        def loss_and_gradient():
            return torch.autograd.grad(functional.cross_entropy(x, targets), x)

        return loss_and_gradient

    return make


def channels(backward):
    def make(kind, batch, count, positions):
        side = math.isqrt(positions)
        x = normal(batch, count, side, positions // side, kind=kind).to(memory_format=layout_of(kind))
        gamma, beta = normal(count), normal(count)
        if not backward:
            return lambda: functional.batch_norm(x, None, None, gamma, beta, True, 0.1, 1e-5)
        dy = torch.randn_like(x)
        x.requires_grad_(True)
        gamma.requires_grad_(True)
        beta.requires_grad_(True)
        y = functional.batch_norm(x, None, None, gamma, beta, True, 0.1, 1e-5)
        return lambda: torch.autograd.grad(y, (x, gamma, beta), dy, retain_graph=True)

    return make


def elements(name):
    def make(kind, count):
        x, y = normal(count, kind=kind), normal(count, kind=kind)
        out = torch.empty_like(x)
        if name == "activation":
            return lambda: torch.clamp_min(x, 0, out=out)
        return lambda: torch.add(x, y, out=out)

    return make


def gated(backward):
    def make(kind, count, width):
        a, b = normal(count, width, kind=kind), normal(count, width, kind=kind)
        if not backward:
            return lambda: functional.silu(a) * b
        dy = normal(count, width, kind=kind)

        def gradients():
            active = functional.silu(a)
            return dy * active, torch.ops.aten.silu_backward(dy * b, a)

        return gradients

    return make


def pool(backward):
    def make(kind, batch, count, height, width, window, stride):
        x = normal(batch, count, height, width, kind=kind).to(memory_format=layout_of(kind))
        pad = (window - 1) // 2 if window != height else 0
        y, places = torch.ops.aten.max_pool2d_with_indices(x, (window, window), (stride, stride), (pad, pad))
        if not backward:
            return lambda: functional.max_pool2d(x, window, stride, pad)
        dy = torch.randn_like(y)
        return lambda: torch.ops.aten.max_pool2d_with_indices_backward(
            dy, x, (window, window), (stride, stride), (pad, pad), (1, 1), False, places)

    return make


def look_up(backward):
    def make(kind, count, width, tokens):
        ids = torch.randint(count, (tokens,), device="cuda")
        if not backward:
            table = normal(count, width, kind=kind)
            return lambda: functional.embedding(ids, table)
        dy = normal(tokens, width, kind=kind)
        return lambda: torch.ops.aten.embedding_dense_backward(dy, ids, count, -1, False)

    return make


def optimize(name):
    def make(_, count):
        w, g, m, v = normal(count), normal(count), normal(count), normal(count).abs()
        if name == "sgd_fused":
            return lambda: torch._fused_sgd_([w], [g], [m], weight_decay=0, momentum=0.9, lr=1e-3, dampening=0,
                                             nesterov=False, maximize=False, is_first_step=False)
        step = torch.ones(1, device="cuda")
        return lambda: torch._fused_adam_([w], [g], [m], [v], [], [step], lr=1e-5, beta1=0.9, beta2=0.999,
                                          weight_decay=0, eps=1e-8, amsgrad=False, maximize=False)

    return make


def select(name):
    def make(_, count, kept):
        x = normal(count)
        if name == "top_k":
            def top():
                places = torch.topk(x.abs(), kept, sorted=False)[1]
                return x[places], places

            return top
        if name == "threshold_k":  # nonzero() waits for the host; torch.where() with sizes that are known doesn't
            least = torch.topk(x.abs(), kept)[0].min()

            def above():
                order = torch.cumsum(x.abs() >= least, 0)
                places = torch.searchsorted(order, torch.arange(1, kept + 1, device="cuda"))
                return x[places], places

            return above
        places = torch.randint(count, (kept,), device="cuda")
        if name == "random_k":
            return lambda: x[places]
        values, out = x[places].clone(), torch.empty(count, device="cuda")
        return lambda: out.zero_().index_add_(0, places, values)

    return make


def convert(name):
    def make(_, count):
        x = normal(count)
        powers = torch.tensor([1, 2, 4, 8, 16, 32, 64, 128], device="cuda", dtype=torch.uint8)
        packed = torch.randint(256, (count // 8,), device="cuda", dtype=torch.uint8)
        if name == "sign_pack":
            return lambda: ((x >= 0).view(-1, 8).to(torch.uint8) * powers).sum(1, dtype=torch.uint8)
        if name == "sign_unpack":
            return lambda: ((packed.unsqueeze(1) & powers) != 0).to(torch.float32).mul_(2).sub_(1)
        levels = torch.randint(256, (count,), device="cuda", dtype=torch.uint8)
        if name == "quantize8":
            def quantize():
                low, high = torch.aminmax(x)
                return ((x - low) / ((high - low) / 255)).round_().to(torch.uint8)

            return quantize
        if name == "dequantize8":
            return lambda: levels.to(torch.float32).mul_(0.01).add_(-1)
        y = normal(count)
        return lambda: torch.add(x, y)

    return make


def low_rank(name):
    def make(_, count, columns, rank):
        m, p, q = normal(count, columns), normal(count, rank), normal(columns, rank)
        if name == "low_rank_p":
            return lambda: torch.mm(m, q, out=p)
        return lambda: torch.mm(m.t(), p, out=q)

    return make


def orthogonalize(_, count, rank):
    p = normal(count, rank)

    def gram_schmidt():  # as the authors' code does it
        for i in range(rank):
            column = p[:, i:i + 1]
            column /= torch.sqrt(torch.sum(column ** 2)) + 1e-8
            if i + 1 < rank:
                rest = p[:, i + 1:]
                rest -= torch.sum(column * rest, dim=0) * column

    return gram_schmidt


MAKERS = {
    "gemm": product(False, True), "gemm_nn": product(False, False), "gemm_tn": product(True, False),
    "convolution": convolve(0), "convolution_input_gradient": convolve(1),
    "convolution_weight_gradient": convolve(2), "attention": attend(False, False),
    "attention_backward": attend(False, True), "causal_attention": attend(True, False),
    "causal_attention_backward": attend(True, True), "activation": elements("activation"), "sum": elements("sum"),
    "batch_norm": channels(False), "batch_norm_backward": channels(True), "layer_norm": rows("layer_norm"),
    "layer_norm_backward": rows("layer_norm_backward"), "rms_norm": rows("rms_norm"),
    "rms_norm_backward": rows("rms_norm_backward"), "softmax": rows("softmax"),
    "softmax_backward": rows("softmax_backward"), "cross_entropy": rows("cross_entropy"), "swiglu": gated(False),
    "swiglu_backward": gated(True), "pooling": pool(False), "pooling_backward": pool(True),
    "embedding": look_up(False), "embedding_backward": look_up(True), "sgd_fused": optimize("sgd_fused"),
    "adam_fused": optimize("adam_fused"), "top_k": select("top_k"), "threshold_k": select("threshold_k"),
    "random_k": select("random_k"), "scatter_add": select("scatter_add"), "add_residual": convert("add_residual"),
    "sign_pack": convert("sign_pack"), "sign_unpack": convert("sign_unpack"), "quantize8": convert("quantize8"),
    "dequantize8": convert("dequantize8"), "low_rank_p": low_rank("low_rank_p"),
    "low_rank_q": low_rank("low_rank_q"), "orthogonalize": orthogonalize, "column_sum": rows("column_sum"),
}


def median_interval(values):
    """Median, and half the 95% interval of it by ranks as a share of it."""
    ordered, count = sorted(values), len(values)
    middle = statistics.median(ordered)
    reach = 1.96 * math.sqrt(count) / 2
    low, high = ordered[max(0, math.floor(count / 2 - reach))], ordered[min(count - 1, math.ceil(count / 2 + reach))]
    return middle, (high - low) / 2 / middle


def measure(function, stream, replays):
    """Seconds of one execution, half width, number of replays. The graph holds about half a millisecond of work."""
    with torch.cuda.stream(stream):
        for _ in range(3):
            function()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        begin.record()
        function()
        end.record()
        torch.cuda.synchronize()
    once = max(begin.elapsed_time(end) / 1e3, 1e-6)
    repeats = max(1, min(100, int(5e-4 / once)))
    graph, times = torch.cuda.CUDAGraph(), []
    with torch.cuda.stream(stream):
        # torch.cuda.graph() would collect garbage first, which takes longer than the measurement.
        graph.capture_begin()
        try:
            for _ in range(repeats):
                function()
        finally:
            graph.capture_end()
        for _ in range(replays // 2):  # the clocks rise
            graph.replay()
        torch.cuda.synchronize()
        for _ in range(replays):
            begin.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end) / 1e3 / repeats)
    return (*median_interval(times), replays)


def some_of(samples, most):
    """At most so many, spread over the times."""
    ordered = sorted(samples, key=lambda sample: sample[1])
    if not 0 < most < len(ordered):
        return ordered
    return [ordered[round(i * (len(ordered) - 1) / (most - 1))] for i in range(most)] if most > 1 else ordered[-1:]


def profile_of(measured, found, libraries):
    """The samples as a profile, with the head of the one whose shapes were measured."""
    heads, dimensions, op = [], {}, None
    with open(measured, encoding="utf-8") as file:
        for text in file:
            if text.startswith("operators:"):
                break
            heads.append(text)
        for text in file:
            if match := re.match(r"  - op: (\w+)$", text):
                op = match[1]
            elif text.startswith("    dimensions:"):
                dimensions[op] = text
    head = "".join(heads)
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    for key, value in (("libraries", f'"{libraries}"'), ("date", f'"{now}"'), ("power_limited_s", "-1"),
                       ("version", '"scripts/measure_torch_operators.py"'), ("visited_twice", "0")):
        head = re.sub(rf"^{key}: .*$", f"{key}: {value}", head, flags=re.M)
    head = re.sub(r"^warnings:\n(  - .*\n)*", "warnings: []\n", head, flags=re.M)
    out, before = [head, "operators:\n"], None
    for each in found:
        if before != (each["op"], each["type"]):
            before = (each["op"], each["type"])
            out.append(f"  - op: {each['op']}\n    type: {each['type']}\n{dimensions[each['op']]}    samples:\n")
        shape = ", ".join(map(str, each["shape"]))
        out.append(f"      - [{shape}, {each['torch_s']:.6g}, {each['half_width']:.4g}, {each['replays']}]\n")
    return "".join(out) + "skipped: []\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", help="profile of `contend calibrate` of this GPU")
    parser.add_argument("-o", "--out", required=True, help="JSON file")
    parser.add_argument("--profile", help="also write the times as a profile that `contend calibrate merge` takes")
    parser.add_argument("--only", help="beginnings of names of operators, separated by commas")
    parser.add_argument("--types", default="fp32,tf32,fp16,bf16", help="number formats, separated by commas")
    parser.add_argument("--shapes", type=int, default=6, help="shapes of an operator, the fastest to the slowest; 0: all")
    parser.add_argument("--seconds", type=float, default=300, help="end after so long")
    parser.add_argument("--replays", type=int, default=20)
    arguments = parser.parse_args()
    if torch is None or not torch.cuda.is_available():
        print(f"measure_torch_operators: {missing if torch is None else 'PyTorch sees no CUDA device'}", file=sys.stderr)
        return NO_DEVICE
    torch.backends.cudnn.benchmark = True
    gc.disable()
    kinds = {"fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
    deadline = time.monotonic() + arguments.seconds
    stream, found, faults, late = torch.cuda.Stream(), [], [], 0
    prefixes = tuple(arguments.only.split(",")) if arguments.only else ("",)
    for (op, kind), samples in tables(arguments.measured).items():
        if op not in MAKERS or kind not in arguments.types.split(",") or not op.startswith(prefixes):
            continue
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = kind == "tf32"
        ratios = []
        for shape, seconds in some_of(samples, arguments.shapes):
            if time.monotonic() > deadline:
                late += 1
                continue
            try:
                with torch.cuda.stream(stream):
                    function = MAKERS[op](kinds[kind], *shape)
                middle, half_width, replays = measure(function, stream, arguments.replays)
            except RuntimeError as error:
                faults.append({"op": op, "type": kind, "shape": shape, "fault": str(error).strip().splitlines()[0]})
                torch.cuda.synchronize()
                continue
            finally:
                function = None
            found.append({"op": op, "type": kind, "shape": shape, "profile_s": seconds, "torch_s": middle,
                          "half_width": half_width, "replays": replays})
            ratios.append(seconds / middle)
        gc.collect()
        torch.cuda.empty_cache()
        if ratios:
            print(f"{op:30} {kind:5} {len(ratios):4} shapes  profile / PyTorch: median {statistics.median(ratios):.2f}, "
                  f"{min(ratios):.2f} to {max(ratios):.2f}", flush=True)
    for each in faults[:10]:
        print(f"not measured: {each['op']} {each['type']} {each['shape']}: {each['fault']}")
    if late:
        print(f"{late} shapes without time")
    libraries = f"PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}"
    with open(arguments.out + ".tmp", "w", encoding="utf-8") as file:
        json.dump({"device": torch.cuda.get_device_name(0), "libraries": libraries, "samples": found, "faults": faults},
                  file, indent=0)
    os.replace(arguments.out + ".tmp", arguments.out)
    if arguments.profile:
        with open(arguments.profile, "w", encoding="utf-8") as file:
            file.write(profile_of(arguments.measured, found, libraries))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`contend capture -- python3 train.py`: runs a training program of PyTorch without a GPU, up to the end of one step, and
prints its layers as a table of their parameters, flops and activations, which a device of a scenario then times. The
verb (cli/verbs/capture_verb.cpp) writes the files.
"""

import argparse
import json
import os
import runpy
import sys
import traceback

EXIT_INPUT, EXIT_CAPABILITY = 3, 5  # cli/exit_code.hpp
FORMATS = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}
COLUMNS = ("model", "sample", "layer", "kind", "tensors", "shared_parameters", "forward_flops", "input_gradient_flops",
           "weight_gradient_flops", "input_elements", "output_elements", "input_reads", "kernels", "input_needs_gradient",
           "geometry")


def parse(words):
    parser = argparse.ArgumentParser(prog="contend capture", add_help=False)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--steps", type=int, default=1)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--table", default="captured.csv")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args(words)
    options.program = options.program[1:] if options.program[:1] == ["--"] else options.program
    return options


class Captured:
    """What was captured, as figures."""

    def __init__(self, recorder, options, name):
        self.recorder, self.step, self.options, self.name = recorder, recorder.step, options, name
        self.notes = []
        self.layers, self.accumulate = self._one_batch()
        for layer in self.layers:
            if layer.fused:
                layer.by_input = layer.forward * 5 // 2 if layer.needs_gradient else 0
            layer.geometry = layer.geometries[0] if len(layer.geometries) == 1 else ""
        self._own_parameters()
        self._unique_names()
        self.samples = self._samples()
        self._find_what_is_left_out()

    def _one_batch(self):
        """The layers of a micro-batch, and how many alike there are before the weights change."""
        batches = [each for each in self.step.micro_batches if each]
        signatures = [[layer.signature() for layer in each] for each in batches]
        if len(batches) > 1 and all(each == signatures[0] for each in signatures):
            return batches[0], len(batches)
        return self.step.all_layers(), 1

    def _own_parameters(self):
        for layer in sorted(self.layers, key=lambda each: not each.has_graph):  # those whose gradients are computed first
            layer.own = [each for each in layer.parameters if each.trained and each.layer is None]
            for each in layer.own:
                each.layer = layer
        for layer in self.layers:
            layer.shared = sum(each.elements for each in layer.parameters if each not in layer.own)

    def _unique_names(self):
        seen = {}
        for layer in self.layers:
            seen[layer.name] = seen.get(layer.name, 0) + 1
            if seen[layer.name] > 1:
                layer.name += f":{seen[layer.name]}"

    def _samples(self):
        """Samples of the batch, by which all flops divide; 1 where they don't: then the whole batch is a sample."""
        samples = self.recorder.samples or 1
        flops = [each for layer in self.layers for each in (layer.forward, layer.by_input, layer.by_weight)]
        if all(each % samples == 0 for each in flops):
            return samples
        for layer in self.layers:
            layer.geometry = ""
        self.notes.append(f"the flops don't divide by {samples} samples: the whole batch is one sample")
        return 1

    def _find_what_is_left_out(self):
        step, notes = self.step, self.notes
        if step.unplaced:
            notes.append(f"{step.unplaced} flops of the backward pass belong to no layer and are left out")
        recomputed = sum(each.recomputed for each in self.layers)
        if recomputed:
            notes.append(f"{recomputed} flops are computed again in the backward pass, and counted there")
        if step.values_read:
            notes.append(f"the program read {step.values_read} values, of which tensors without storage have none: it got 1, "
                         "0 or False")
        unused = [each for each in self.recorder.distinct_parameters() if each.trained and each.layer is None]
        if unused:
            notes.append(f"{len(unused)} trained parameters were not used, such as {unused[0].name}, and are left out")
        others = [each for each in step.collectives if each.kind != "barrier" and not self._is_exchange(each)]
        if others:
            notes.append(f"{len(others)} collectives are no sums of gradients over all ranks, and so are not in the entry")
        if self.options.ranks > 1 and not any(map(self._is_exchange, step.collectives)):
            notes.append("the program sums no gradients over the ranks; a job of the entry does")
        if self.optimizer() is None and step.optimizer is not None:
            notes.append(f"optimizer {type(step.optimizer).__name__} isn't known: the entry has none")
        if self.format() is None:
            notes.append(f"numbers of {self.number()} are in no entry: it has fp32")

    def _is_exchange(self, collective):
        return (collective.phase != "forward" and len(collective.ranks) == self.options.ranks and
                collective.kind in ("all-reduce", "reduce-scatter", "all-gather", "broadcast", "reduce"))

    def trained(self):
        return [each for layer in self.layers for each in layer.own]

    def number(self):
        most = max(self.layers, key=lambda layer: layer.forward, default=None)
        return str(most.dtype).split(".")[-1] if most is not None else "float32"

    def format(self):
        formats = [FORMATS[each] for each in self.recorder.autocast if each in FORMATS]
        return formats[0] if formats else FORMATS.get(self.number())

    def optimizer(self):
        if self.step.optimizer is None:
            return None
        name = type(self.step.optimizer).__name__.lower()
        if name == "sgd":
            return "momentum" if self.step.optimizer.param_groups[0].get("momentum") else "sgd"
        return name if name in ("adam", "adamw", "adafactor", "lion", "muon") else None

    def rows(self):
        for layer in self.layers:
            kind = layer.kind()
            tensors = ";".join(_tensor_text(each, layer.name) for each in layer.own)
            per_sample = [layer.forward, layer.by_input + layer.recomputed, layer.by_weight]
            elements = [-(-each // self.samples) for each in (layer.read, layer.written)]
            reads = 2 if any("batch_norm" in each for each in layer.operators) else 1
            yield (self.name, f"a row of the first tensor ({self.samples} in the batch)", layer.name, kind, tensors,
                   layer.shared, *(each // self.samples for each in per_sample), *elements, reads, layer.kernels,
                   int(layer.needs_gradient), layer.geometry)

    def collectives(self):
        """(kind, ranks of the group) with number and bytes, in order of their first."""
        found = {}
        for each in self.step.collectives:
            entry = found.setdefault((each.kind, each.ranks), [0, 0])
            entry[0] += 1
            entry[1] += each.bytes
        return found

    def figures(self):
        layers = self.layers
        everything = self.recorder.distinct_parameters()
        return {
            "program": self.options.program, "layers": len(layers), "samples": self.samples, "accumulate": self.accumulate,
            "parameters": sum(each.elements for each in self.trained()),
            "frozen_parameters": sum(each.elements for each in everything if not each.trained),
            "forward_flops": sum(each.forward for each in layers),
            "backward_flops": sum(each.by_input + each.by_weight + each.recomputed for each in layers),
            "activation_bytes": sum(each.written_bytes for each in layers), "dtype": self.format() or "fp32",
            "mixed_precision": bool(self.recorder.autocast), "optimizer": self.optimizer() or "none",
            "ranks": self.options.ranks, "fake": self.recorder.fake is not None,
            "collectives": [{"kind": kind, "ranks": list(ranks), "count": count, "bytes": size}
                            for (kind, ranks), (count, size) in self.collectives().items()],
            "not_counted_operators": self.step.outside, "optimizer_operators": self.step.optimizer_operators,
            "notes": self.notes}


def _tensor_text(parameter, layer):
    name = parameter.name
    if name.startswith(layer + "."):
        name = name[len(layer) + 1:]
    return f"{name}=[{'x'.join(map(str, parameter.shape))}]" if parameter.shape else f"{name}=1"


def table_text(captured):
    import csv
    import io
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(captured.rows())
    return text.getvalue()


def scenario_text(captured, table):
    figures, ranks = captured.figures(), captured.options.ranks
    members = {"model": json.dumps(table), "batch": figures["samples"], "dtype": figures["dtype"]}
    if figures["mixed_precision"] and figures["dtype"] != "fp32":
        members["mixed_precision"] = "true"
    if figures["accumulate"] > 1:
        members["accumulate"] = figures["accumulate"]
    members["optimizer"] = figures["optimizer"]
    entry = ", ".join(f"{key}: {value}" for key, value in members.items())
    return ("# One training step as `contend capture` found it; another machine, more GPUs or another batch are an edit.\n"
            "schema_version: 2\nmachine: dgx-h100\n"
            f"cluster: {{servers: {-(-ranks // 8)}}}\n"
            f"training:\n  captured: {{{entry}}}\n"
            f"workload: {{generate: {{models: [captured], sizes: {{{ranks}: 1}}, iterations: [100, 100]}}}}\n")


def summary_text(figures):
    def line(name, text):
        return f"  {name:<14} {text}\n"
    batch = f"{figures['samples']} samples" + (f" x {figures['accumulate']} micro-batches" if figures["accumulate"] > 1
                                               else "")
    text = f"{' '.join(figures['program'])}: one step of rank 0 of {figures['ranks']}, {batch}\n"
    text += line("layers", figures["layers"])
    frozen = f", and {figures['frozen_parameters']} that are not trained" if figures["frozen_parameters"] else ""
    text += line("parameters", f"{figures['parameters']}{frozen}")
    text += line("flops", f"{figures['forward_flops']} forward, {figures['backward_flops']} backward of a micro-batch")
    text += line("activations", f"{figures['activation_bytes']} bytes written by the forward pass")
    text += line("numbers", figures["dtype"] + (" (autocast)" if figures["mixed_precision"] else ""))
    text += line("optimizer", f"{figures['optimizer']}, {figures['optimizer_operators']} operators")
    for each in figures["collectives"]:
        ranks = each["ranks"]
        group = f"all {len(ranks)} ranks" if len(ranks) == figures["ranks"] else f"ranks {', '.join(map(str, ranks))}"
        text += line("collectives", f"{each['count']} x {each['kind']} over {group}, {each['bytes']} bytes")
    text += line("not counted", f"{figures['not_counted_operators']} operators outside of modules and gradients")
    return text + "".join(line("note", each) for each in figures["notes"])


def own_traceback(error, script):
    """The traceback from the program's own first line on, without the frames of this one."""
    frames = traceback.extract_tb(error.__traceback__)
    here = {"capture", "capture_recorder", "capture_stand_ins", "capture_operators", "overrides", "_python_dispatch", "_ops",
            "_pytree", "fake_tensor"}
    first = next((i for i, each in enumerate(frames) if os.path.abspath(each.filename) == os.path.abspath(script)), 0)
    kept = [each for each in frames[first:] if os.path.splitext(os.path.basename(each.filename))[0] not in here]
    lines = traceback.format_list(kept) + traceback.format_exception_only(type(error), error)
    return "Traceback (most recent call last):\n" + "".join(lines)


def run_program(program):
    """Runs `SCRIPT ARGUMENT...` or `-m MODULE ARGUMENT...` as Python would."""
    if program[0] == "-m":
        sys.argv = program[1:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(program[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = list(program)
        sys.path.insert(0, os.path.dirname(os.path.abspath(program[0])))
        runpy.run_path(program[0], run_name="__main__")


def said(text):
    print(f"contend: {text}", file=sys.stderr)


def watch(options):
    """Runs the program up to the end of its step. Returns the recorder, whether the step ended, and the exit code."""
    import torch
    import capture_recorder
    import capture_stand_ins
    fake = None if options.real or capture_recorder.FakeTensorMode is None else capture_recorder.FakeTensorMode()
    if fake is None and not options.real:
        said("note: this PyTorch has no tensors without storage; real ones are computed with")
    recorder = capture_recorder.Recorder(fake)
    steps = [0]

    def finished():
        steps[0] += 1
        if steps[0] >= options.steps:
            raise capture_stand_ins.StepDone
        recorder.begin_step()

    capture_stand_ins.install(recorder, options.ranks, finished)
    script, code = options.program[0], 0
    with contextlib_stack(fake, recorder, capture_recorder.Calls(recorder)):
        try:
            run_program(options.program)
        except capture_stand_ins.StepDone:
            pass
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
            if code == 1 and not isinstance(stop.code, int):
                print(stop.code, file=sys.stderr)
        except BaseException as error:  # the program's own, whatever it is
            sys.stderr.write(own_traceback(error, script))
            code = 130 if isinstance(error, KeyboardInterrupt) else 1
    del torch
    return recorder, steps[0] >= options.steps, code


def contextlib_stack(*modes):
    import contextlib
    stack = contextlib.ExitStack()
    for mode in modes:
        if mode is not None:
            stack.enter_context(mode)
    return stack


def main():
    options = parse(sys.argv[1:])
    try:
        import torch  # noqa: F401
    except ImportError:
        said("capture: this Python has no torch (Debian: apt-get install python3-torch); `contend capture -- PYTHON ...` "
             "takes another one")
        return EXIT_CAPABILITY
    results = os.dup(1)  # what the program prints goes where messages go
    os.dup2(2, 1)
    recorder, is_whole, code = watch(options)
    name = os.path.splitext(os.path.basename(options.program[-1 if options.program[0] == "-m" else 0]))[0]
    captured = Captured(recorder, options, name)
    if not is_whole:
        steps = f"step {options.steps}" if options.steps > 1 else "a step"
        reason = "failed" if code else "ended"
        said(f"capture: the program {reason} before {steps} of an optimizer (optimizer.step()); captured until then: "
             f"{len(captured.layers)} layers, {len(captured.trained())} parameter tensors, "
             f"{recorder.step.backwards} backward passes, {len(recorder.step.collectives)} collectives")
        return code or EXIT_INPUT
    if not captured.trained():
        said("capture: the step trains no parameters of modules, so there is no table")
        return EXIT_INPUT
    figures = captured.figures()
    with os.fdopen(results, "w", encoding="utf-8") as printed:
        printed.write(json.dumps({"figures": json.dumps(figures) + "\n", "summary": summary_text(figures),
                                  "table": table_text(captured),
                                  "scenario": scenario_text(captured, options.table)}))
    return 0


#!/usr/bin/env python3
"""Captures programs of PyTorch and compares with the catalogue and with values worked out by hand.

Usage: captured_programs.py PROGRAM SOURCE_FOLDER. It needs a Python with torch and torchvision (Debian: python3-torch,
python3-torchvision); without one it says so and ends with 77.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:3])


def python_with_torch():
    for each in (os.environ.get("CONTEND_TORCH_PYTHON"), "python3", "/usr/bin/python3"):
        if each and subprocess.run([each, "-c", "import torch, torchvision"], capture_output=True).returncode == 0:
            return each
    return None


PYTHON = python_with_torch()


def contend(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True)


def catalogue(name):
    """Parameters of a network; its flops to the digit are in tests/models/catalogue/flops_test.cpp."""
    rows = json.loads(contend("list", "networks", "--json").stdout)
    return next(int(each["parameters"]) for each in rows if each["network"] == name)


SMALL = """
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
def train(model, *inputs, optimizer=None):
    optimizer = optimizer or torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
    loss = model(*inputs).float().mean()
    loss.backward()
    optimizer.step()
"""


class Capture(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.before = os.getcwd()
        os.chdir(self.folder.name)
        self.addCleanup(os.chdir, self.before)

    def capture(self, text, *words, arguments=(), code=0):
        pathlib.Path("train.py").write_text(text, encoding="utf-8")
        return self.capture_file("train.py", *words, arguments=arguments, code=code)

    def capture_file(self, file, *words, arguments=(), code=0):
        done = contend("capture", *words, "--json", "--", PYTHON, file, *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.said = done.stderr
        self.figures = json.loads(done.stdout) if code == 0 else None
        if code == 0:
            with open("captured.csv", encoding="utf-8") as file:
                self.layers = {each["layer"]: each for each in csv.DictReader(file)}
        return self.figures

    def flops(self, layer):
        return tuple(int(self.layers[layer][f"{each}_flops"]) for each in ("forward", "input_gradient", "weight_gradient"))

    def test_resnet50_is_the_catalogues(self):
        figures = self.capture("""
import torch, torchvision
model = torchvision.models.resnet50().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
loss = torch.nn.CrossEntropyLoss()(model(torch.randn(4, 3, 224, 224).cuda()), torch.zeros(4, dtype=torch.long).cuda())
loss.backward()
optimizer.step()
print(loss.item())
""")
        self.assertEqual(figures["parameters"], catalogue("resnet50"))
        self.assertEqual(figures["forward_flops"], 4 * 8_178_368_512)
        # The first convolution needs no gradient of the images: 2 x 147 x 64 x 112 x 112 flops of a sample less.
        first = 2 * 3 * 7 * 7 * 64 * 112 * 112
        self.assertEqual(self.flops("conv1"), (first, 0, first))
        self.assertEqual(figures["backward_flops"], 4 * 16_120_709_120)
        self.assertEqual(self.layers["layer1.0.conv2"]["tensors"], "weight=[64x64x3x3]")
        self.assertEqual((figures["optimizer"], figures["samples"], figures["dtype"]), ("momentum", 4, "fp32"))
        run = contend("run", "captured.yaml")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.same_steps("resnet50", "captured.csv", "conv1")

    def same_steps(self, name, table, layer):
        """A layer takes as long in the table as in the catalogue, on a device of the sheets."""
        times = []
        for model in (name, table):
            text = ("schema_version: 2\noverlap: {training: it, workers: [1]}\n"
                    f"training: {{it: {{model: {model}, batch: 4, device: A100-40GB}}}}\n")
            pathlib.Path("study.yaml").write_text(text, encoding="utf-8")
            shown = contend("show", "study.yaml", "--layers", "--json")
            self.assertEqual(shown.returncode, 0, shown.stderr)
            times.append(next(each for each in json.loads(shown.stdout)["layers"] if each["layer"] == layer))
        for each in ("forward_s", "backward_s", "gradient_bytes", "parameters"):
            self.assertEqual(times[0][each], times[1][each])

    def test_llama_is_the_catalogues(self):
        figures = self.capture_file(f"{SOURCE}/tests/capture/llama.py", "--ranks", "16",
                                    arguments=["4096", "32", "8", "14336", "32", "128256", "8192"])
        self.assertEqual(figures["parameters"], catalogue("llama-3-8b"))
        # 2 x tokens x (weights of the products of a layer), and 4 x tokens^2 x width for attention.
        tokens, width = 8192, 4096
        attention = 4 * tokens * tokens * width
        layer = 2 * tokens * (2 * width * width + 2 * width * 1024 + 3 * width * 14336) + attention
        head = 2 * tokens * width * 128256
        self.assertEqual(figures["forward_flops"], 32 * layer + head)
        self.assertEqual((figures["forward_flops"], figures["backward_flops"]), (158_140_695_838_720, 333_873_577_721_856))
        self.assertEqual(self.flops("layers.7.self_attn.attention"), (attention, attention * 5 // 2, 0))
        sums = figures["collectives"]
        self.assertEqual([(each["kind"], len(each["ranks"]), each["bytes"]) for each in sums],
                         [("all-reduce", 16, 2 * 8_030_261_248)])
        self.assertEqual((figures["dtype"], figures["optimizer"]), ("bf16", "adamw"))
        self.assertIn("servers: 2", pathlib.Path("captured.yaml").read_text(encoding="utf-8"))

    def test_micro_batches_and_tied_weights(self):
        figures = self.capture(SMALL + """
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.frozen = nn.Embedding(10, 6), nn.Linear(6, 6, bias=False)
        self.frozen.weight.requires_grad_(False)
    def forward(self, x):
        return self.frozen(self.table(x)) @ self.table.weight.t()
model = Tied()
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad])
for _ in range(3):
    model(torch.zeros(2, 5, dtype=torch.long)).mean().backward()
optimizer.step()
""")
        self.assertEqual((figures["accumulate"], figures["parameters"], figures["frozen_parameters"]), (3, 60, 36))
        self.assertEqual(self.flops("frozen"), (2 * 5 * 6 * 6, 2 * 5 * 6 * 6, 0))
        self.assertEqual(self.layers["frozen"]["shared_parameters"], "36")
        self.assertEqual(self.flops("mm"), (2 * 5 * 6 * 10,) * 3)
        self.assertEqual((self.layers["mm"]["shared_parameters"], self.layers["mm"]["tensors"]), ("60", ""))
        self.assertEqual(contend("check", "captured.yaml").returncode, 0)

    def test_collectives_of_groups(self):
        figures = self.capture(SMALL + """
dist.init_process_group("nccl")
halves = [dist.new_group([0, 2]), dist.new_group([1, 3])]
class Parallel(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Linear(8, 4, bias=False)
    def forward(self, x):
        y = self.part(x)
        dist.all_reduce(y, group=halves[dist.get_rank() % 2])
        return y
model = Parallel().cuda()
model(torch.ones(3, 8, device="cuda:0")).sum().backward()
for each in model.parameters():
    dist.all_reduce(each.grad)
    each.grad /= dist.get_world_size()
torch.optim.SGD(model.parameters(), lr=1.0).step()
""", "--ranks", "4")
        self.assertEqual(figures["collectives"], [{"kind": "all-reduce", "ranks": [0, 2], "count": 1, "bytes": 4 * 3 * 4},
                                                  {"kind": "all-reduce", "ranks": [0, 1, 2, 3], "count": 1, "bytes": 128}])
        self.assertIn("1 collectives are no sums of gradients over all ranks, and so are not in the entry", figures["notes"])

    def test_checkpoints_compute_again(self):
        figures = self.capture(SMALL + """
from torch.utils.checkpoint import checkpoint
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4, bias=False), nn.Sequential(nn.Linear(4, 8), nn.ReLU())
    def forward(self, x):
        return checkpoint(self.second, self.first(x))
train(Model(), torch.ones(2, 4))
""")
        self.assertEqual(self.flops("first"), (32, 0, 32))
        self.assertEqual(self.flops("second.0"), (64, 128, 64))  # for the input, and forward once more
        self.assertIn("128 flops are computed again in the backward pass, and counted there", figures["notes"])

    def test_autocast_and_loaders(self):
        figures = self.capture(SMALL + """
from torch.utils.data import DataLoader, TensorDataset
model, scaler = nn.Linear(4, 2).cuda(), torch.cuda.amp.GradScaler()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in DataLoader(TensorDataset(torch.ones(6, 4), torch.zeros(6, dtype=torch.long)), batch_size=3, num_workers=2):
    with torch.cuda.amp.autocast():
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
""")
        self.assertEqual((figures["dtype"], figures["mixed_precision"], figures["samples"]), ("fp16", True, 3))
        self.assertEqual(self.flops("Linear")[0], 16)

    def test_a_program_that_starts_its_ranks(self):
        figures = self.capture(SMALL + """
import contextlib
def work(rank, count):
    dist.init_process_group("nccl", rank=rank, world_size=count)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(8, 8), nn.Dropout(), nn.Linear(8, 1)).to(rank))
    optimizer = torch.optim.AdamW(model.parameters())
    for first in (True, False):
        with model.no_sync() if first else contextlib.nullcontext():
            F.mse_loss(model(torch.ones(4, 8, device=rank)), torch.zeros(4, 1).to(rank)).backward()
    optimizer.step()
    dist.barrier()
if __name__ == "__main__":
    torch.multiprocessing.spawn(work, args=(torch.cuda.device_count(),), nprocs=torch.cuda.device_count())
""", "--ranks", "4")
        # 81 numbers of 4 bytes, summed once for two micro-batches; the first layer needs no gradient of its input.
        self.assertEqual((figures["parameters"], figures["accumulate"], figures["samples"]), (81, 2, 4))
        self.assertEqual(figures["collectives"], [{"kind": "all-reduce", "ranks": [0, 1, 2, 3], "count": 1, "bytes": 324}])
        self.assertEqual((figures["forward_flops"], figures["backward_flops"]), (4 * 2 * (64 + 8), 4 * 2 * (64 + 16)))
        self.assertEqual([each["kernels"] for each in self.layers.values()], ["1"] * 4)

    def test_the_second_step(self):
        text = SMALL + """
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for length in (3, 5):
    train(model, torch.ones(1, length, 4), optimizer=optimizer)
"""
        self.assertEqual(self.capture(text)["forward_flops"], 2 * 3 * 4 * 2)
        self.assertEqual(self.capture(text, "--steps", "2")["forward_flops"], 2 * 5 * 4 * 2)
        self.capture(text, "--steps", "3", code=3)
        self.assertIn("the program ended before step 3 of an optimizer", self.said)

    def test_values_that_decide(self):
        text = SMALL + """
model = nn.Linear(4, 2)
x = torch.ones(3, 4)
x[0] = -1
x = x[x.sum(1) > 0]
train(model, x)
"""
        self.capture(text, code=1)
        self.assertIn("DynamicOutputShapeException", self.said)
        self.assertEqual(self.capture(text, "--real")["forward_flops"], 2 * 2 * 4 * 2)

    def test_programs_that_fail(self):
        self.capture(SMALL + "\nmodel = nn.Linear(4, 2)\nmodel(torch.ones(3, 4)).mean().backward()\nraise ValueError('mine')\n",
                     code=1)
        self.assertRegex(self.said, r'(?s)Traceback.*File ".*train.py", line \d+, in <module>.*ValueError: mine')
        self.assertNotIn("capture.py", self.said)
        self.assertIn("the program failed before a step of an optimizer (optimizer.step()); captured until then: "
                      "2 layers, 2 parameter tensors, 1 backward passes, 0 collectives", self.said)
        self.capture("import sys\nsys.exit(7)\n", code=7)
        self.capture("print('nothing')\n", code=3)
        self.assertIn("the program ended before a step of an optimizer (optimizer.step())", self.said)
        self.assertFalse(os.path.exists("captured.csv"))

    def test_programs_that_cannot_start(self):
        for words, said in ((["torchrun", "train.py"], 'expected a Python and its script, such as `-- python3 train.py`'),
                            (["python3", "-c", "1"], "expected a Python"), (["pythonX", "a.py"], "there is no such program")):
            done = contend("capture", "--", *words)
            self.assertIn(said, done.stderr)
            self.assertIn(done.returncode, (2, 3))


if __name__ == "__main__":
    if PYTHON is None:
        print("skipped: no Python here has torch and torchvision (Debian: apt-get install python3-torch python3-torchvision)")
        sys.exit(77)
    result = unittest.main(argv=[sys.argv[0], *sys.argv[3:]], exit=False, verbosity=0).result
    print(f"did: {result.testsRun} captured programs")
    sys.exit(not result.wasSuccessful())

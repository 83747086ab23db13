"""A Llama as Hugging Face names its modules, with one training step: llama.py WIDTH HEADS KEY_HEADS HIDDEN LAYERS WORDS TOKENS."""

import sys

import torch
import torch.nn.functional as F
from torch import nn

width, heads, key_heads, hidden, layers, words, tokens = map(int, sys.argv[1:8])
size = width // heads


def linear(inputs, outputs):
    return nn.Linear(inputs, outputs, bias=False)


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.o_proj = linear(width, width), linear(width, width)
        self.k_proj, self.v_proj = linear(width, key_heads * size), linear(width, key_heads * size)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = (y.view(batch, length, -1, size).transpose(1, 2) for y in (self.q_proj(x), self.k_proj(x), self.v_proj(x)))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.o_proj(y.transpose(1, 2).reshape(batch, length, width))


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate_proj, self.up_proj, self.down_proj = linear(width, hidden), linear(width, hidden), linear(hidden, width)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.input_layernorm, self.self_attn = Norm(), Attention()
        self.post_attention_layernorm, self.mlp = Norm(), FeedForward()

    def forward(self, x):
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed_tokens, self.layers = nn.Embedding(words, width), nn.ModuleList(Block() for _ in range(layers))
        self.norm, self.lm_head = Norm(), linear(width, words)

    def forward(self, x):
        x = self.embed_tokens(x)
        for each in self.layers:
            x = each(x)
        return self.lm_head(self.norm(x))


torch.distributed.init_process_group("nccl")
model = Llama().to(torch.bfloat16).cuda(torch.distributed.get_rank())
model = nn.parallel.DistributedDataParallel(model, device_ids=[0])
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
ids = torch.randint(0, words, (1, tokens), device="cuda")
F.cross_entropy(model(ids).view(-1, words), ids.view(-1)).backward()
nn.utils.clip_grad_norm_(model.parameters(), 1.0)
optimizer.step()

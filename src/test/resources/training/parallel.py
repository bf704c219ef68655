"""Trains one model with DistributedDataParallel and with FSDP, and prints what it got with all digits."""
import os

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel


def model():
    torch.manual_seed(7)
    return torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)).double()


def train(net, rank):
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.05)
    data = torch.Generator().manual_seed(100 + rank)
    for _ in range(8):
        inputs = torch.randn(12, 16, generator=data, dtype=torch.float64)
        loss = ((net(inputs) - inputs.sum(1, keepdim=True)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    total = loss.detach().clone()
    dist.all_reduce(total)
    return total.item() / dist.get_world_size()


dist.init_process_group("gloo")
rank = dist.get_rank()
for name, wrap in (("ddp", DistributedDataParallel), ("fsdp", fully_shard)):
    loss = train(wrap(model()), rank)
    if rank == 0:
        print("%s of %d: %r" % (name, dist.get_world_size(), loss), flush=True)
dist.destroy_process_group()
os._exit(0)     # a thread of torch that still runs aborts a Python that ends: "terminate called without an active exception"

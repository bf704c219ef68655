"""A small model, trained by all ranks together with torch's DistributedDataParallel; some seconds on CPUs.

    gpush run train.py              all ranks of the session
    gpush run train.py --steps 50   words after the script are the script's
    torchrun train.py               works alone, too
"""
import argparse
import os

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--steps", type=int, default=10)
parser.add_argument("--lr", type=float, default=0.1)
options = parser.parse_args()

# Alone, without a launcher, there is one rank.
for name, value in {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}.items():
    os.environ.setdefault(name, value)

on_gpu = torch.cuda.is_available()
device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if on_gpu else torch.device("cpu")
if on_gpu:
    torch.cuda.set_device(device)
distributed.init_process_group("nccl" if on_gpu else "gloo")
rank, world = distributed.get_rank(), distributed.get_world_size()

# The same model everywhere, other data on each rank: the same numbers on every run.
torch.manual_seed(0)
model = DistributedDataParallel(
    nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1)).to(device), device_ids=[device.index] if on_gpu else None
)
optimizer = torch.optim.SGD(model.parameters(), lr=options.lr)
torch.manual_seed(1 + rank)
x = torch.randn(256, 8)
y = x.sum(dim=1, keepdim=True).sin()
x, y = x.to(device), y.to(device)

for step in range(1, options.steps + 1):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mean = loss.detach().clone()
    distributed.all_reduce(mean)
    if rank == 0:
        print(f"step {step} loss {mean.item() / world:.4f}")

print(f"rank {rank} of {world} on {device}: done")
distributed.destroy_process_group()

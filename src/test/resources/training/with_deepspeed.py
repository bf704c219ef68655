"""The same training as a script for DeepSpeed, on processors."""
import torch
import deepspeed

deepspeed.init_distributed(dist_backend="gloo", verbose=False)
torch.manual_seed(7)
net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
settings = {"train_micro_batch_size_per_gpu": 12, "zero_optimization": {"stage": 1}, "zero_allow_untested_optimizer": True}
engine, _, _, _ = deepspeed.initialize(model=net, optimizer=torch.optim.AdamW(net.parameters(), lr=0.05), config=settings)
rank, world = torch.distributed.get_rank(), torch.distributed.get_world_size()
data = torch.Generator().manual_seed(100 + rank)
for _ in range(8):
    inputs = torch.randn(12, 16, generator=data)
    loss = ((engine(inputs) - inputs.sum(1, keepdim=True)) ** 2).mean()
    engine.backward(loss)
    engine.step()
total = loss.detach().clone()
torch.distributed.all_reduce(total)
if rank == 0:
    print("deepspeed of %d: %r" % (world, total.item() / world), flush=True)

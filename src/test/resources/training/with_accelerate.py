"""The same training as a script for accelerate."""
import torch
from accelerate import Accelerator

torch.manual_seed(7)
accelerator = Accelerator(cpu=True)
net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)).double()
optimizer = torch.optim.AdamW(net.parameters(), lr=0.05)
inputs = torch.randn(96, 16, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs), batch_size=6)
net, optimizer, loader = accelerator.prepare(net, optimizer, loader)
for (batch,) in loader:
    loss = ((net(batch) - batch.sum(1, keepdim=True)) ** 2).mean()
    optimizer.zero_grad()
    accelerator.backward(loss)
    optimizer.step()
loss = accelerator.reduce(loss.detach(), "mean").item()
if accelerator.is_main_process:
    print("accelerate of %d: %r" % (accelerator.num_processes, loss), flush=True)
accelerator.end_training()

"""The same training as a script for Lightning, which finds its ranks in torchrun's environment."""
import os
import torch
import lightning


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)).double()

    def training_step(self, batch, _):
        loss = ((self.net(batch[0]) - batch[0].sum(1, keepdim=True)) ** 2).mean()
        self.last = self.all_gather(loss.detach()).mean()
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=0.05)


lightning.seed_everything(7, verbose=False)
inputs = torch.randn(96, 16, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs), batch_size=6)
nodes = int(os.environ["GROUP_WORLD_SIZE"])
trainer = lightning.Trainer(accelerator="cpu", devices=int(os.environ["LOCAL_WORLD_SIZE"]), num_nodes=nodes, strategy="ddp", max_epochs=1,
                            logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
net = Net()
trainer.fit(net, loader)
if trainer.is_global_zero:
    print("lightning of %d: %r" % (trainer.world_size, net.last.item()), flush=True)

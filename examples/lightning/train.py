#!/usr/bin/env python3
"""Fits a small network to generated data with PyTorch Lightning. Nothing in it knows of Godwit."""
import argparse
import os

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import ModelCheckpoint
from pytorch_lightning.loggers import CSVLogger, MLFlowLogger


class Net(pl.LightningModule):
    def __init__(self, lr: float, width: int):
        super().__init__()
        self.save_hyperparameters()
        self.layers = torch.nn.Sequential(torch.nn.Linear(4, width), torch.nn.Tanh(), torch.nn.Linear(width, 1))

    def step(self, batch):
        x, y = batch
        return torch.nn.functional.mse_loss(self.layers(x), y)

    def training_step(self, batch, _):
        loss = self.step(batch)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, _):
        self.log("val_loss", self.step(batch))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


def data(seed: int, count: int):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(count, 4, generator=generator)
    y = (x[:, :1] * x[:, 1:2]).sin() + 0.1 * torch.randn(count, 1, generator=generator)
    return torch.utils.data.TensorDataset(x, y)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max_epochs", type=int, default=12)
    parser.add_argument("--rows", type=int, default=2048)
    args = parser.parse_args()

    pl.seed_everything(args.seed)
    loggers = [CSVLogger("logs", name="", version="")]
    if os.environ.get("MLFLOW_TRACKING_URI"):
        loggers.append(MLFlowLogger(run_id=os.environ.get("MLFLOW_RUN_ID")))
    trainer = pl.Trainer(
        accelerator="cpu",
        max_epochs=args.max_epochs,
        logger=loggers,
        callbacks=[ModelCheckpoint(dirpath=".", save_last=True, save_top_k=0)],
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        log_every_n_steps=10,
    )
    trainer.fit(
        Net(args.lr, args.width),
        torch.utils.data.DataLoader(data(1, args.rows), batch_size=32, shuffle=True),
        torch.utils.data.DataLoader(data(2, 128), batch_size=128),
        ckpt_path="last.ckpt" if os.path.exists("last.ckpt") else None,
    )


if __name__ == "__main__":
    main()

"""CPU seconds of an epoch of LibMultiLabel's KimCNN: `python THIS train.tsv`, one thread."""

import json
import sys
import tempfile
import time
from pathlib import Path

import lightning
import torch
from libmultilabel.nn.data_utils import (
    get_dataset_loader,
    load_datasets,
    load_or_build_label,
    load_or_build_text_dict,
)
from libmultilabel.nn.nn_utils import init_model, init_trainer, set_seed


class Clock(lightning.Callback):
    """Keep the CPU time between the start and the end of a training epoch."""

    seconds = 0.0

    def on_train_epoch_start(self, trainer: lightning.Trainer, module: object) -> None:
        """Start the clock."""
        self.start = time.process_time()

    def on_train_epoch_end(self, trainer: lightning.Trainer, module: object) -> None:
        """Stop it."""
        self.seconds = time.process_time() - self.start


def main() -> None:
    """Train one epoch and say how long it took."""
    torch.set_num_threads(1)
    set_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        vectors = Path(folder) / "vectors.txt"
        datasets = load_datasets(sys.argv[1], None, val_size=0.02, tokenize_text=True)
        words = sorted({word for one in datasets["train"] for word in one["text"]})
        zeros = " ".join(["0.01"] * 300)
        vectors.write_text("".join(f"{word} {zeros}\n" for word in words))
        dictionary, start = load_or_build_text_dict(
            datasets["train"], min_vocab_freq=2, embed_file=str(vectors), silent=True
        )
        classes = load_or_build_label(datasets)
        network = {"filter_sizes": [2, 4, 8], "num_filter_per_size": 128, "embed_dropout": 0.2}
        model = init_model(
            "KimCNN",
            network,
            classes,
            start,
            learning_rate=0.002,
            monitor_metrics=["P@1"],
            silent=True,
        )
        trainer = init_trainer(folder, epochs=1, use_cpu=True, silent=True, save_checkpoints=False)
        clock, device = Clock(), torch.device("cpu")
        trainer.callbacks.append(clock)
        loaders = {
            part: get_dataset_loader(
                datasets[part], classes, device, 500, 64, part == "train", 0, word_dict=dictionary
            )
            for part in ("train", "val")
        }
        trainer.fit(model, loaders["train"], loaders["val"])
    print(json.dumps({"seconds": clock.seconds, "documents": len(datasets["train"])}))


if __name__ == "__main__":
    main()

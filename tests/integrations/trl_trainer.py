"""TRL's trainer of the tiny model, which keeps what it trained on."""

import torch
from trl import GRPOConfig, GRPOTrainer
from trl_desk import DESK, KWARGS, WHERE, make_model, preference, taught, tokenizer

from tool_envs.integrations.trl_rows import make_dataset

torch.set_num_threads(1)


class Watched(GRPOTrainer):
    """Keeps what each batch was, and what each reward function gave."""

    def __init__(self, *args, **kwargs):
        self.batches, self.rewards = [], []
        super().__init__(*args, **kwargs)

    def _generate_and_score_completions(self, inputs):
        self.batches.append(super()._generate_and_score_completions(inputs))
        return self.batches[-1]

    def _calculate_rewards(self, *args):
        self.rewards.append(super()._calculate_rewards(*args))
        return self.rewards[-1]

    def own(self, batch, row):
        """The texts of what is trained on in a completion: one for each run of the mask."""
        ids = batch["completion_ids"][row]
        mask = (batch["completion_mask"] * batch["tool_mask"])[row].tolist()
        runs, last = [], 0
        for number, bit in zip(ids.tolist(), mask, strict=True):
            if bit:
                runs[-1:] = [[*runs[-1], number]] if last else [*runs[-1:], [number]]
            last = bit
        return [tokenizer().decode(run) for run in runs]


def make_trainer(folder, kwargs=KWARGS, steps=6, **more):
    config = GRPOConfig(
        str(folder),
        per_device_train_batch_size=8,
        num_generations=8,
        max_completion_length=300,
        max_steps=steps,
        learning_rate=0.1,
        loss_type="grpo",  # which no long episode rules
        optim="sgd",
        lr_scheduler_type="constant",
        report_to="none",
        use_cpu=True,
        bf16=False,
        logging_steps=1,
        save_strategy="no",
        disable_tqdm=True,
        seed=1,
    )
    dataset = make_dataset(DESK, kwargs, [WHERE])
    return Watched(
        make_model(taught()), args=config, train_dataset=dataset, processing_class=tokenizer(), **more
    )


def check_that_it_learnt(trainer, route):
    before, after = preference(make_model(taught()))[route], preference(trainer.model)[route]
    assert all(
        torch.isfinite(torch.tensor(row["loss"])) for row in trainer.state.log_history if "loss" in row
    )
    assert after > before + 0.3

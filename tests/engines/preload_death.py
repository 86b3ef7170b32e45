"""A worker that imports this dies of the second block, as if its memory had run out."""

import os

from app.engine import Task, TaskArrays
from app.learners.linear.block_training import BlockTraining

run = getattr(BlockTraining, "own_run", BlockTraining.run)  # Dask may load this file twice


def run_or_die(self: BlockTraining, task: Task) -> TaskArrays:
    if task == (1,):
        os._exit(1)
    return run(self, task)


BlockTraining.own_run, BlockTraining.run = run, run_or_die  # type: ignore[method-assign]

"""Where tasks run, other than in threads of one process. What can be run, by name."""

WORKLOADS = {
    "evaluated-files": "app.cli.evaluating.file_tasks:FileTasks",
    "label-blocks": "app.learners.linear.block_training:BlockTraining",
    "predicted-files": "app.cli.predicting.partition_tasks:PartitionTasks",
    "tree-nodes": "app.learners.tree.training:NodeTraining",
}

"""Where tasks run, other than in threads of one process. What can be run, by name."""

WORKLOADS = {
    "cost-trials": "app.learners.linear.cost_trials:CostTrials",
    "evaluated-files": "app.cli.evaluating.file_tasks:FileTasks",
    "label-blocks": "app.learners.linear.block_training:BlockTraining",
    "learnt-terms": "app.vectorizers.learnt_terms:LearntTerms",
    "predicted-files": "app.cli.predicting.partition_tasks:PartitionTasks",
    "tree-nodes": "app.learners.tree.training:NodeTraining",
}

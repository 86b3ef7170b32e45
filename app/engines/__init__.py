"""Where tasks run, other than in threads of one process. What can be run, by name."""

WORKLOADS = {
    "cost-trials": "app.learners.linear.cost_trials:CostTrials",
    "evaluated-files": "app.cli.evaluating.file_tasks:FileTasks",
    "label-blocks": "app.learners.linear.block_training:BlockTraining",
    "lead-counts": "app.vectorizers.workers.lead_counts:LeadCounts",
    "learnt-terms": "app.vectorizers.workers.learnt_terms:LearntTerms",
    "predicted-files": "app.cli.predicting.partition_tasks:PartitionTasks",
    "read-files": "app.datasets.by_file.file_reading:FileReading",
    "tree-nodes": "app.learners.tree.training:NodeTraining",
    "weighed-rows": "app.vectorizers.workers.weighed_rows:WeighedRows",
}

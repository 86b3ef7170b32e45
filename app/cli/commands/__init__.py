"""The commands, one file each: arguments in, a call into app, a table or a file out.

Catalogue of `labelserve`: name → where its typer application is, and its line in the list of
commands. A command is imported when it is asked for.
"""

COMMANDS = {
    "serve": ("app.cli.commands.serve:app", "Serve the models of a folder over HTTP."),
    "worker": ("app.cli.commands.worker:app", "Work on evaluations that were handed in."),
    "train": ("app.cli.commands.train:app", "Train a model from labelled documents."),
    "tune": ("app.cli.commands.tune:app", "Search recipes within a budget, train the best."),
    "learning-curve": (
        "app.cli.commands.learning_curve:app",
        "Say what more training documents would give.",
    ),
    "evaluate": ("app.cli.commands.evaluate:app", "Judge a model on a labelled test set."),
    "predict": ("app.cli.commands.predict:app", "Label the documents of a file."),
    "compare": ("app.cli.commands.compare:app", "Compare two models on the same test set."),
    "retune": ("app.cli.commands.retune:app", "Tune a model's decisions anew, without training."),
    "papers": ("app.cli.commands.papers:app", "Give the papers' tables again, beside our figures."),
    "rules": ("app.cli.commands.rules:app", "Check hand-written rules, or apply them to a model."),
    "models": ("app.cli.commands.models:app", "List, show, verify, promote and remove models."),
    "keys": ("app.cli.commands.keys:app", "Create, list and revoke API keys for the service."),
    "demo": ("app.cli.commands.make_demo:app", "Write made-up documents to try everything with."),
    "doctor": ("app.cli.commands.doctor:app", "Say what is wrong here, and how to mend it."),
}

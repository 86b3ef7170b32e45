"""BentoML with the same model."""

import os
import sys

import bentoml


@bentoml.service(workers=1, logging={"access": {"enabled": False}})
class Labels:
    """Text in, labels out."""

    def __init__(self):
        from serving import Model

        self.model = Model()

    @bentoml.api
    def predict(self, text: str) -> list[dict]:
        """The text's labels."""
        return self.model.best(text)


if __name__ == "__main__":
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    program = os.path.join(os.path.dirname(sys.executable), "bentoml")
    options = ["--host", "127.0.0.1", "--port", sys.argv[1], "--working-dir", folder]
    os.execv(program, [program, "serve", "serve.bentoml:Labels", *options])  # noqa: S606

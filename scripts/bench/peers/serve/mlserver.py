"""MLServer with the same model, without worker processes (its fastest mode)."""

import json
import os
import sys
from pathlib import Path

from mlserver import MLModel
from mlserver.types import InferenceResponse, ResponseOutput


class Labels(MLModel):
    """Text in, labels out."""

    async def load(self):
        """Load once."""
        from serving import Model

        self.model = Model()
        return True

    async def predict(self, payload):
        """The text's labels, as JSON in a tensor."""
        text = payload.inputs[0].data[0]
        found = json.dumps(self.model.best(text))
        output = ResponseOutput(name="labels", shape=[1], datatype="BYTES", data=[found])
        return InferenceResponse(model_name=self.name, outputs=[output])


if __name__ == "__main__":
    peers = Path(__file__).parents[1]
    folder = Path(os.environ["LABELSERVE_BENCH_SERVE"]) / "mlserver"
    folder.mkdir(parents=True, exist_ok=True)
    server = {"host": "127.0.0.1", "http_port": int(sys.argv[1]), "parallel_workers": 0}
    free = {"grpc_port": int(sys.argv[1]) + 1, "metrics_port": int(sys.argv[1]) + 2}
    quiet = {"metrics_endpoint": None, "debug": False, "access_log": False}
    (folder / "settings.json").write_text(json.dumps({**server, **free, **quiet}))
    model = {"name": "debtags", "implementation": "serve.mlserver.Labels"}
    (folder / "model-settings.json").write_text(json.dumps(model))
    os.environ["PYTHONPATH"] = str(peers)
    program = Path(sys.executable).with_name("mlserver")
    os.execv(program, [str(program), "start", str(folder)])  # noqa: S606

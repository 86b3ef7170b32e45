"""LitServe with the same model."""

import sys

import litserve
from serving import Model


class Labels(litserve.LitAPI):
    """Text in, labels out."""

    def setup(self, device):
        """Load once a worker."""
        self.model = Model()

    def decode_request(self, request):
        """The text."""
        return request["text"]

    def predict(self, text):
        """Its labels."""
        return self.model.best(text)

    def encode_response(self, output):
        """As JSON."""
        return {"labels": output}


if __name__ == "__main__":
    server = litserve.LitServer(Labels(), accelerator="cpu", workers_per_device=1)
    server.run(
        host="127.0.0.1",
        port=int(sys.argv[1]),
        num_api_servers=1,
        generate_client_file=False,
        log_level="warning",
        access_log=False,
    )

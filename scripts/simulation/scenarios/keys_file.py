"""Keys file: keys made and revoked by operators, and read by services."""

from collections import Counter
from collections.abc import Callable
from typing import ClassVar

from simulation.scenario import Scenario, attempt, require
from simulation.world import Process, World

from app.errors import InvalidRequestError, UnauthorizedError
from app.serving.keys import LOOK_AGAIN_SECONDS, KeysFile


class Keys(Scenario):
    """Two operators and a service."""

    name: ClassVar[str] = "keys"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.path = self.root / "etc" / "keys.json"
        self.secrets: dict[str, str] = {}
        self.revoking: Counter[str] = Counter()
        self.revoked: set[str] = set()

    def prepare(self, process: Process) -> None:
        """A folder with somebody's files, with a key or without."""
        self.put_foreign("etc/.keys.json.orig", "etc/keys.json.bak", "etc/.keys.jso")
        if self.random.random() < 0.7:
            self.create(process)

    def works(self) -> dict[str, Callable[[Process], None]]:
        """Who works at once."""
        return {"anna": self.operate, "ben": self.operate, "service": self.serve}

    def operate(self, process: Process) -> None:
        """Some operations, each by a command of its own or by one that goes on."""
        for _ in range(self.random.randint(1, 4)):
            if self.random.random() < 0.6 or not self.secrets:
                self.create(process)
            else:
                self.revoke(process, self.random.choice(sorted(self.secrets)))

    def create(self, process: Process) -> None:
        """A new key."""
        is_done, made = attempt(process, lambda: KeysFile(self.path).create(["predict"]))
        if is_done:
            key, secret = made
            self.secrets[key.id] = secret

    def revoke(self, process: Process, id: str) -> None:
        """No such key any more."""
        self.revoking[id] += 1
        allowed = (InvalidRequestError,)
        is_done, _ = attempt(process, lambda: KeysFile(self.path).revoke(id), allowed)
        if is_done:
            self.revoked.add(id)
        else:
            is_known = process.had_fault or self.revoking[id] > 1
            require(is_known, f"the key {id} was made, and is not known")

    def serve(self, process: Process) -> None:
        """A service that reads the file again when it changes."""
        is_done, keys = attempt(process, lambda: KeysFile(self.path))
        while is_done and self.random.random() < 0.8:
            valid = set(self.secrets)
            gone = set(self.revoked)
            self.world.sleep(LOOK_AGAIN_SECONDS + 0.1)
            process.had_fault = False
            known = {key.id for key in keys.keys()}  # noqa: SIM118 (no dict)
            if process.had_fault:  # those read before stay valid, until it can be read again
                continue
            lost = valid - set(self.revoking) - known
            require(not lost, f"{lost} were made, and are not known")
            require(not gone & known, f"{gone & known} were revoked, and are known")

    def recover(self, process: Process) -> None:
        """All keys are there, and nothing is left beside the file after another one was made."""
        keys = KeysFile(self.path)
        for id, secret in self.secrets.items():
            if id not in self.revoking:
                require(keys.identify(secret.encode()).name == id, f"the key {id} is lost")
            if id in self.revoked:
                self.require_unknown(keys, secret)
        self.create(process)
        self.check_foreign()
        names = {path.name for path in self.path.parent.iterdir()}
        left = names - {
            "keys.json",
            ".keys.json.lock",
            *(f.rpartition("/")[2] for f in self.foreign),
        }
        require(not left, f"left over: {left}")

    def require_unknown(self, keys: KeysFile, secret: str) -> None:
        """A revoked secret is nobody's."""
        try:
            keys.identify(secret.encode())
        except UnauthorizedError:
            return
        require(False, "a revoked key is valid")

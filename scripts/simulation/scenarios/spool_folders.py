"""Spool: folders of processes that come and go; what the dead leave is removed, nothing else."""

from collections.abc import Callable
from typing import ClassVar

from simulation.scenario import Scenario, attempt, require
from simulation.world import Process

from app.serving.spool import Spool, Upload


class SpoolFolders(Scenario):
    """Three processes that take uploads."""

    name: ClassVar[str] = "spool"

    def prepare(self, process: Process) -> None:
        """Somebody's files, where we would look for ours."""
        self.put_foreign("data/spool/README", "data/spool/notes-2024/a", "data/other/b")

    def works(self) -> dict[str, Callable[[Process], None]]:
        """Who works at once."""
        return dict.fromkeys(("anna", "ben", "carl"), self.take_uploads)

    def take_uploads(self, process: Process) -> None:
        """Uploads, one after the other, by one spool or by one after the other."""
        spool = Spool(self.root / "data")
        for _ in range(self.random.randint(1, 4)):
            attempt(process, lambda: self.take(process, spool))
            if self.random.random() < 0.3:
                attempt(process, spool.close)

    def take(self, process: Process, spool: Spool) -> None:
        """An upload that stays whole until it was worked on."""
        with spool.folder() as folder:
            upload = Upload(folder / "upload", 10_000)
            content = b""
            for number in range(self.random.randint(1, 3)):
                piece = bytes([number]) * self.random.randint(1, 2000)
                upload.write(piece)
                content += piece
            upload.close()
            found = (folder / "upload").read_bytes()
            require(found == content, "an upload is not what was written")
        if not process.had_fault:
            require(not folder.exists(), "the folder of an upload is left over")

    def recover(self, process: Process) -> None:
        """A new process finds nothing of the dead, and leaves nothing itself."""
        spool = Spool(self.root / "data")
        self.take(process, spool)
        spool.close()
        self.check_foreign()
        left = {path.name for path in (self.root / "data" / "spool").iterdir()}
        require(left == {"README", "notes-2024"}, f"left over: {left}")

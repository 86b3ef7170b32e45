"""Which callers a canary answers: a fixed share of them, each always the same."""

import hashlib

from app.artifacts.trials import VersionTrial

DIGEST_BYTES = 8


def is_answered_by(trial: VersionTrial, model: str, caller: bytes) -> bool:
    """Whether the canary answers this caller: by a hash, alike in every worker and replica.

    Another canary answers other callers, so that they are not the same ones every time.
    """
    told = f"{model}\0{trial.version}\0".encode() + caller
    digest = hashlib.blake2b(told, digest_size=DIGEST_BYTES).digest()
    return int.from_bytes(digest, "big") < trial.share * float(1 << 8 * DIGEST_BYTES)

"""What Dask's configuration says of encryption, checked before anything is connected.

Dask itself would end in a traceback, after a minute.
"""

from pathlib import Path
from typing import Any

import dask
from distributed.security import Security

from app.errors import ClusterError

COMM = "DASK_DISTRIBUTED__COMM__"
OWN_FILES = f"{COMM}TLS__CA_FILE, {COMM}TLS__CLIENT__CERT and {COMM}TLS__CLIENT__KEY"
"""What names the files of a command that connects to a scheduler."""
PLAIN = f"unset {COMM}REQUIRE_ENCRYPTION"
ROLES = ("client", "scheduler", "worker")
LOADER = "distributed.client.security-loader"


def check_encryption(address: str) -> None:
    """Refuse an address that the configuration does not go with."""
    if dask.config.get(LOADER, None):
        return  # a function of the user's gives certificates
    security = Security()
    if address.startswith("tls://") and not _has_files(security, "client"):
        raise ClusterError(
            "tls:// needs the certificate of the cluster's CA, and one that it signed for this "
            f"command, with its key: set {OWN_FILES} (docs/cluster.md)"
        )
    if address.startswith("tcp://") and security.require_encryption:
        raise ClusterError(
            f"Dask's configuration requires encryption, and tcp:// has none: use tls://, or {PLAIN}"
        )
    is_local = "://" not in address
    if is_local and security.require_encryption and not _has_files(security, *ROLES):
        raise ClusterError(
            f"Dask's configuration requires encryption, and names no files for it: {PLAIN}, as "
            "local:N listens on 127.0.0.1 alone"
        )


def unreached(address: str, error: Exception) -> ClusterError:
    """What to do where a scheduler did not take the connection."""
    if not address.startswith("tls://"):
        return ClusterError(
            f"no scheduler answers at {address}: {error}; start one with: dask scheduler (one that "
            "speaks TLS is reached by tls://)"
        )
    return ClusterError(
        f"the scheduler at {address} is not there, or speaks no TLS, or its certificate and this "
        f"command's are not of the same CA: {error}; this command's files are named by {OWN_FILES}"
    )


def _has_files(security: Security, *roles: str) -> bool:
    """Whether each role has certificate, key and CA; files that cannot be read are refused."""
    return all(_context(security, role) is not None for role in roles)


def _context(security: Security, role: str) -> Any:
    """What a role encrypts with; None where files are not named."""
    try:
        return security.get_connection_args(role)["ssl_context"]
    except OSError as error:  # of which SSLError is one
        wrong = ", ".join(_missing(security.get_tls_config_for_role(role))) or error
        raise ClusterError(
            f"a file of Dask's TLS configuration cannot be read: {wrong}; it is named by one of "
            f"{OWN_FILES.replace('CLIENT', role.upper())}"
        ) from error


def _missing(files: dict[str, Any]) -> list[str]:
    """The files that are not there; a value of several lines is no name, but a file's content."""
    names = [files[what] for what in ("ca_file", "cert", "key")]
    return [name for name in names if name and "\n" not in name and not Path(name).is_file()]

"""Whether a folder is another machine's, where SQLite cannot lock files reliably."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Final

_MOUNTS: Final = Path("/proc/self/mounts")
_NETWORK: Final = frozenset(
    {
        *("nfs", "nfs3", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "9p", "afs", "ceph"),
        *("lustre", "beegfs", "gpfs", "glusterfs", "davfs", "sshfs", "s3fs", "gcsfuse", "rclone"),
    }
)
_OCTAL: Final = re.compile(r"\\([0-7]{3})")


def network_file_system(path: Path) -> str | None:
    """The kind of network file system that a file is on; None for none, or where nobody says.

    Linux alone says it; the whole system's own disk does not count.
    """
    try:
        return kind_in(
            _MOUNTS.read_text(encoding="utf-8", errors="replace"), PurePosixPath(path.resolve())
        )
    except OSError:
        return None


def kind_in(mounts: str, path: PurePosixPath) -> str | None:
    r"""The same by the text of a table of mounts.

    >>> mounts = r'''disk / ext4 rw 0 0
    ... host:/x /my\040data nfs4 rw 0 0
    ... them: /my\040data/here fuse.sshfs rw 0 0'''
    >>> kind_in(mounts, PurePosixPath("/my data/v.sqlite"))
    'nfs4'
    >>> kind_in(mounts, PurePosixPath("/my data/here/v.sqlite"))
    'sshfs'
    >>> kind_in(mounts, PurePosixPath("/my data 2/v.sqlite"))
    """
    found = PurePosixPath("/"), ""
    for line in mounts.splitlines():
        _, place, kind, *_ = [*line.split(" "), "", "", ""]
        point = PurePosixPath(_OCTAL.sub(lambda code: chr(int(code[1], 8)), place))
        if path.is_relative_to(point) and point.is_relative_to(found[0]):
            found = point, kind.removeprefix("fuse.")  # the last one of a place lies on top
    point, kind = found
    return kind if kind in _NETWORK and len(point.parts) > 1 else None

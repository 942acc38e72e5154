"""What evaluators of this process share at the moment."""

from tcva_adapters.runner.sharing import SHARED, SharedJudgements


def remembered(shared: SharedJudgements = SHARED) -> int:
    """How many answers are remembered for judges that are still there."""
    entries = shared._entries.values()
    return sum(entry.size > 0 and entry.holder() is not None for entry in entries)


def under_way() -> int:
    """How many judgements are being made."""
    return sum(entry.size == 0 for entry in SHARED._entries.values())

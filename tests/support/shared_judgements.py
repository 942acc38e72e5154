"""What evaluators of this process share at the moment."""

from tcva_adapters.runner.sharing import SHARED, SharedJudgements


def remembered(shared: SharedJudgements = SHARED) -> int:
    """How many answers are remembered for judges that are still there."""
    calls = shared._calls.values()
    return sum(call.size > 0 and call.holder() is not None for call in calls)


def under_way() -> int:
    """How many judgements are being made."""
    return sum(call.size == 0 for call in SHARED._calls.values())

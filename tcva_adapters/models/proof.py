"""Asking a model, so that one sample's failure says nothing about the others.

A failure is fatal where the server refuses whoever asks: a wrong key, no credit left. Others only
look like it: a 403 may be a firewall that dislikes one text, a 404 a gateway that lost one request.
Where the model has answered before, such a failure is the sample's. Where it has not, it is asked
one question that holds nothing of any sample, once for all who suspect it at the same time: if that
fails in the same way, no call can succeed. Texts of servers prove nothing, since they may repeat
the sample's words.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any, Final

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.call_errors import as_judge_error, cause_of
from tcva_adapters.models.protocol import JudgeModel, ModelReply, checked_reply, identity_of_model
from tcva_adapters.models.request import NEUTRAL, JudgeRequest
from tcva_adapters.sharing import SharedJudgements

SUSPICIOUS: Final = frozenset(
    {"permission", "model_not_found", "unreachable", "redirect", "no_reply"}
)
"""Reasons that hold for every call, or for one sample alone; resets, timeouts and errors of the
server hold for the moment."""

_KEY: Final = "neutral question"
_PROOFS: Final = SharedJudgements()
"""Models that have answered well, and the neutral questions under way."""

if hasattr(os, "register_at_fork"):  # nobody in a child asks the questions that were under way
    os.register_at_fork(after_in_child=_PROOFS.clear)


def complete(model: JudgeModel, request: JudgeRequest) -> ModelReply:
    """Answer one request.

    Raises:
        JudgeError: No text came. Fatal only where it is proven that no other call can succeed.
    """
    try:
        return _answered(model, model.complete(request))
    except (Exception, asyncio.CancelledError) as raised:  # noqa: BLE001  # all are JudgeErrors here
        error, cause = as_judge_error(raised, model), raised
    if _is_suspect(error):

        def ask() -> JudgeError | ModelReply:
            try:
                return checked_reply(model, model.complete(NEUTRAL))
            except (Exception, asyncio.CancelledError) as failure:  # noqa: BLE001  # as above
                return as_judge_error(failure, model)

        found = _PROOFS.ask(identity_of_model(model), _KEY, ask, _is_error)
        error = _proven(error, found.answer)
    raise error from cause_of(error, cause)


async def acomplete(model: JudgeModel, request: JudgeRequest) -> ModelReply:
    """The same, awaited.

    Raises:
        JudgeError: As there.
    """
    try:
        return _answered(model, await model.acomplete(request))
    except (Exception, asyncio.CancelledError) as raised:  # noqa: BLE001  # as above
        _pass_on(raised)
        error, cause = as_judge_error(raised, model), raised
    if _is_suspect(error):

        async def ask() -> JudgeError | ModelReply:
            try:
                return checked_reply(model, await model.acomplete(NEUTRAL))
            except (Exception, asyncio.CancelledError) as failure:  # noqa: BLE001  # as above
                _pass_on(failure)
                return as_judge_error(failure, model)

        found = await _PROOFS.aask(identity_of_model(model), _KEY, ask, _is_error)
        error = _proven(error, found.answer)
    raise error from cause_of(error, cause)


def _answered(model: JudgeModel, reply: Any) -> ModelReply:
    """A reply that is one; its model has answered well."""
    found = checked_reply(model, reply)
    _PROOFS.remember(identity_of_model(model), _KEY, True)
    return found


def _pass_on(raised: BaseException) -> None:
    """Raise what cancels this very task; one that the model's own tasks raise is its failure."""
    task = asyncio.current_task()
    if isinstance(raised, asyncio.CancelledError) and (task is None or task.cancelling()):
        raise raised


def _is_suspect(error: JudgeError) -> bool:
    return error.reason in SUSPICIOUS and not error.fatal


def _is_error(answer: object) -> bool:
    return isinstance(answer, JudgeError)


def _proven(error: JudgeError, answer: object) -> JudgeError:
    """The failure in the light of what a neutral question got."""
    if not isinstance(answer, JudgeError) or not (answer.fatal or answer.reason == error.reason):
        return error
    msg = f"{error}; a question without the sample failed, too"
    if answer.reason != error.reason:
        msg = f"{msg}: {answer}"
    return JudgeError(msg, reason=error.reason, fatal=True)

"""Whatever others wrote is read in a time that grows with its length, and never with the square of it."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks.readers import READERS, texts
from tcva_adapters.batches.ledger import open_ledger
from tcva_adapters.batches.request_lines import read_lines
from tcva_adapters.criteria import FAITHFULNESS
from tcva_adapters.errors import TCVAError
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.models.openai_batches import split
from tcva_adapters.models.openai_retries_and_limits import LARGEST_REPLY

TIMES = 8  # a text is so much longer
MOST = 24  # and may take so much longer; the square would be 64
FAST = 0.1  # seconds that need no second look


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    with suppress(TCVAError):
        work()
    return time.process_time() - began


def assert_linear(read: Callable[[int], object], what: str = "", size: int = 1) -> None:
    """Reading eight times as much takes a short time, or about eight times as long.

    CPU time of this process, the least of three: others on the machine make it longer.
    """
    if seconds(lambda: read(TIMES * size)) < FAST:
        return
    once = min(seconds(lambda: read(size)) for _ in range(3))
    more = min(seconds(lambda: read(TIMES * size)) for _ in range(3))
    assert more < max(MOST * once, FAST), (
        f"{what}: {once:.3f} s, and {more:.3f} s for {TIMES} times as much"
    )


@pytest.mark.parametrize("size", [250, pytest.param(2_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("reader", READERS)
def test_every_reader_of_what_others_wrote_is_linear(reader: str, size: int) -> None:
    short = dict(texts(reader, size))
    for made_of, long in texts(reader, TIMES * size):
        by_size = {1: short[made_of], TIMES: long}
        assert_linear(lambda n: READERS[reader](by_size[n]), repr(made_of))  # noqa: B023  # called at once


def test_a_result_file_without_line_feeds_is_read_once() -> None:
    def read(megabytes: int) -> None:
        pieces = (b"a" * 16_000 for _ in range(megabytes * 62))
        assert [len(line) for line in split(pieces)] == [megabytes * 62 * 16_000]

    assert_linear(read)


def test_a_line_that_is_too_long_for_a_reply_is_cut_off() -> None:
    pieces = [b"a" * 1_000_000] * (LARGEST_REPLY // 1_000_000 + 20)
    long, short = split([*pieces, b"\n{}"])
    assert len(long) <= LARGEST_REPLY + 1_000_000
    assert short == b"{}"


def test_many_lines_of_one_request_are_read_in_linear_time(tmp_path: Path) -> None:
    line = b'{"custom_id": "5f-0", "response": {"status_code": 500, "body": {}}}'

    def read(thousands: int) -> None:
        lines = [*read_lines([line] * (1_000 * thousands), str)]
        assert len(lines) == 1_000 * thousands
        with open_ledger(tmp_path, is_new=True) as ledger, ledger.transaction():
            for found in lines:
                ledger.answer(1, found)

    assert_linear(read)


def test_many_claims_are_compared_with_many_lines_in_linear_time() -> None:
    row = "Row {0} is {1} in the long table of rows that stands on the last page of the book."
    claims = [row.format(n, n * n) for n in range(200)]

    def judge(size: int) -> None:
        text = "\n".join(row.format(n, n * n) for n in range(2_500 * size))
        judged = LexicalJudge().judge_claims(claims, [text], FAITHFULNESS)
        assert {claim.verdict for claim in judged} == {"fully"}

    assert_linear(judge)

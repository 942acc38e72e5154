"""The figures of the paper's tables, from its stored verdicts."""

from __future__ import annotations

import pytest

from tests.golden import names
from tests.golden.stored import differences, stored
from tests.support.paper import FOLDER, needs_paper_data


@pytest.mark.slow
@needs_paper_data
def test_the_papers_figures() -> None:
    pytest.importorskip("scipy.stats", reason="the extra stats")
    golden = stored("paper")
    figures = names.paper_figures(FOLDER)
    found = {name: {key: figures[name][key] for key in golden[name]} for name in golden}
    assert differences(golden, found) == []

"""The pytest plugin: a fixture that judges, a marker for its settings, and a summary of the run.

pytest loads this module in every run where the package is installed. So it imports nothing but
pytest, and a run that does not use the fixture sees nothing of it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tcva_adapters.report.suite import Suite

MARKER = "tcva"
_HELP = (
    "tcva(criterion='faithfulness', judge='lexical', temperature=0.5, threshold=0.5, "
    "gates=(), group=None, config=None, **settings): settings of the fixture `tcva`: those of "
    "tcva_adapters.TCVA, gates like 'mean>=0.8', and a file of tcva calibrate; the nearest marker wins"
)
_REPORTED = "tcva"
"""The attribute of a report that carries judged samples from xdist's workers to the summary."""

_SUITE = pytest.StashKey["Suite"]()


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and the plugin that collects what was judged."""
    config.addinivalue_line("markers", _HELP)
    config.pluginmanager.register(_Summary(), "tcva-summary")


@pytest.fixture
def tcva(request: pytest.FixtureRequest) -> Suite:
    """Judges samples as the marker ``tcva`` says; ``tcva.check(sample)`` fails with their claims."""
    # Imported only when the fixture is used.
    from tcva_adapters.errors import TCVAError  # noqa: PLC0415  # see above
    from tcva_adapters.report.suite import Suite  # noqa: PLC0415  # see above

    settings: dict[str, Any] = {}
    for marker in request.node.iter_markers(MARKER):  # the nearest one comes first
        if marker.args:
            pytest.fail(
                f"@pytest.mark.tcva takes settings by name, not {marker.args!r}",
                pytrace=False,
            )
        settings = {**marker.kwargs, **settings}
    try:
        suite = Suite(**settings)
    except TCVAError as error:
        pytest.fail(f"@pytest.mark.tcva: {error}", pytrace=False)
    request.node.stash[_SUITE] = suite
    return suite


@pytest.hookimpl(hookwrapper=True)  # the older kind: pytest 7 knows no other
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Add what was judged to the test's report."""
    suite = item.stash.get(_SUITE, None)
    judged = [] if suite is None else suite.taken(item.name)
    outcome = yield
    if judged:
        setattr(outcome.get_result(), _REPORTED, judged)


class _Summary:
    """Collects what was judged in the whole run, by this process or by xdist's workers."""

    def __init__(self) -> None:
        self.judged: dict[tuple[str, str], list[dict[str, Any]]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember what a test judged; if it runs again, the last run counts."""
        judged = getattr(report, _REPORTED, None)
        if judged:
            self.judged[report.nodeid, report.when] = judged

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        """Print a row per criterion; print nothing if nothing was judged."""
        if not self.judged:
            return
        from tcva_adapters.report.suite import run_lines  # noqa: PLC0415  # not in other runs

        terminalreporter.write_sep("=", "TCVA")
        for line in run_lines(
            entry for judged in self.judged.values() for entry in judged
        ):
            terminalreporter.write_line(line)

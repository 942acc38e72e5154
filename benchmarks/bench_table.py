"""The tables of docs/speed.md, from the figures that `benchmarks.bench` has written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.bench_figures import cpu_above_bare, ideal_seconds, middle, ratio

MISSING = "-"


def between(page: str, name: str, text: str) -> str:
    r"""The page with this text between the markers of that name.

    Raises:
        ValueError: The page has no such markers.

    >>> between("<!-- bench: a -->x<!-- end: a -->", "a", "1")
    '<!-- bench: a -->\n\n1\n\n<!-- end: a -->'
    """
    start, end = f"<!-- bench: {name} -->", f"<!-- end: {name} -->"
    pattern = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
    if not pattern.search(page):
        msg = f"no markers {start} and {end}"
        raise ValueError(msg)
    return pattern.sub(lambda _: f"{start}\n\n{text}\n\n{end}", page)


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first are figures."""
    rule = ["---", *(["---:"] * (len(head) - 1))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *lines))


def figure(value: float | None, digits: int = 2) -> str:
    """A figure of fixed digits; a dash where there is none."""
    return MISSING if value is None else f"{value:.{digits}f}"


def above(cell: dict[str, Any]) -> list[float]:
    """Milliseconds of CPU a sample above the bare client, of each run."""
    return [
        1000
        * cpu_above_bare(
            run["cpu"],
            run["bare_cpu"],
            posted=run["posted"],
            requests=cell["requests"],
            samples=cell["samples"],
        )
        for run in cell["runs"]
    ]


def over_ideal(key: str, cell: dict[str, Any]) -> tuple[float | None, float | None]:
    """Wall over ideal of a method and of the bare client; None without a pause."""
    delay, concurrency = map(int, key.split("/"))
    if not delay:
        return None, None
    ideal = ideal_seconds(cell["requests"], delay / 1000, concurrency)
    runs = cell["runs"]
    alone = [
        run["bare_wall"] / ideal_seconds(run["posted"], delay / 1000, concurrency) for run in runs
    ]
    return middle(run["wall"] / ideal for run in runs), middle(alone)


def _share(ours: dict[str, Any], theirs: dict[str, Any] | None, key: str) -> float | None:
    """The median over runs of ours over the framework's own."""
    if theirs is None:
        return None
    pairs = zip(above(ours["cells"][key]), above(theirs["cells"][key]), strict=False)
    return middle(found for pair in pairs if (found := ratio(*pair)) is not None)


def _with_own(
    methods: dict[str, dict[str, Any]],
) -> Iterable[tuple[str, dict[str, Any], dict[str, Any] | None]]:
    """Each method with the framework's own metric above it, which ours are held against."""
    own: dict[str, Any] | None = None
    for label, method in methods.items():
        if own is not None and own["group"] != method["group"]:
            own = None
        yield label, method, own if method["ours"] else None
        own = own if method["ours"] else method


def time_table(methods: dict[str, dict[str, Any]]) -> str:
    """CPU above the bare client, against the framework's own, and wall over ideal."""
    keys = list(dict.fromkeys(key for each in methods.values() for key in each["cells"]))
    waiting = [key for key in keys if not key.startswith("0/")]
    head = [
        "method (pause in ms / samples at once)",
        *(f"CPU {key}" for key in keys),
        *(f"to own {key}" for key in keys),
        *(f"wall {key} (bare)" for key in waiting),
        "connections, a request",
    ]

    def line(label: str, method: dict[str, Any], own: dict[str, Any] | None) -> list[str]:
        found = [label]
        cells = method["cells"]
        found += [figure(middle(above(cells[key]))) if key in cells else MISSING for key in keys]
        found += [figure(_share(method, own, key)) if key in cells else MISSING for key in keys]
        for key in waiting:
            ours, alone = over_ideal(key, cells[key]) if key in cells else (None, None)
            found.append(f"{figure(ours)} ({figure(alone)})")
        return [*found, figure(method["connections"] / method["requests"])]

    return table(head, [line(*each) for each in _with_own(methods)])


def token_table(methods: dict[str, dict[str, Any]]) -> str:
    """Requests and tokens a sample, and what a prefix cache serves of the prompts."""
    head = [
        "method",
        "requests",
        "prompt",
        "reply schema",
        "completion",
        "cached, blocks of 16",
        "of it by the same sample",
        "cached, 1024 and more",
    ]

    def line(label: str, method: dict[str, Any]) -> list[str]:
        counted = method["tokens"]
        cell = max(method["cells"].values(), key=lambda each: each["samples"])
        shares = [f"{counted[name]:.0%}" for name in ("blocks", "own", "steps")]
        numbers = [figure(counted[name], 0) for name in ("prompt", "schema", "completion")]
        return [label, figure(cell["requests"] / cell["samples"]), *numbers, *shares]

    return table(head, [line(*each) for each in methods.items()])

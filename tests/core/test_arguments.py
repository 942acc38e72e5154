"""Whatever a function of the core is given, it answers or raises an error that names the value."""

import math
import re
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from tcva_adapters import (
    Assessment,
    Criterion,
    Verdict,
    WeightScheme,
    flip_temperature,
    rubric,
)
from tcva_adapters.core.aggregation import aggregate, aggregate_counts, make_plan
from tcva_adapters.core.collapse import (
    ablation_plans,
    binary_counts,
    from_deepeval,
)
from tcva_adapters.core.compat import score_agg
from tcva_adapters.core.panel import evaluate_panel, fuse
from tcva_adapters.core.temperature import Bounds, check_temperature, exponent
from tcva_adapters.core.verdicts import count_levels
from tcva_adapters.errors import InvalidValueError, TCVAError

NUMBERS = [
    math.nan,
    -math.inf,
    10**400,
    -(10**400),
    1e-320,
    -1,
    0.5,
    True,
    1j,
    Decimal("sNaN"),
]
TEXTS = [
    None,
    "fully",
    "x",
    "",
    "\ud800",
    b"fully",
    object(),
    int,
    {"fully": 3},
    [],
    ["fully", 1],
]
LISTS = [
    [None],
    [["fully"]],
    [0.5],
    [math.nan] * 5,
    [10**400] * 5,
    ["1"] * 5,
    [b"fully"],
    [{}],
]
ARRAYS = [
    [0.5, 0.6],
    [0.5],
    0.5,
    ["fully", "none"],
    np.ones((2, 2, 5)),
    np.ones((2, 5)) * 1j,
]
OTHER_ARRAYS = [
    np.array([None, "x"]),
    np.zeros((0, 5)),
    [[1, 2], [1]],
    np.datetime64("2026-01-01"),
]
SCALARS = [
    np.float64(0.5),
    np.float32(0.5),
    np.int64(1),
    np.nan,
    np.str_("fully"),
    np.True_,
]


def odd_values() -> Iterator[Any]:
    yield from (
        *NUMBERS,
        *TEXTS,
        *LISTS,
        *map(np.array, ARRAYS),
        *OTHER_ARRAYS,
        *SCALARS,
    )
    yield (word for word in ["fully"])
    yield (row for row in [[1, 0, 0, 0, 0]])


WORDS = ["fully", "none"]
ROWS = [[1, 0, 0, 0, 1]]
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "aggregate": aggregate,
    **{
        f"aggregate {name}": lambda value, name=name: aggregate(WORDS, **{name: value})  # type: ignore[misc]  # bound at once
        for name in ("temperature", "scheme", "penalty", "eps", "floor", "bounds")
    },
    "aggregate_counts": lambda value: aggregate_counts(value, [0.5]),
    "aggregate_counts temperatures": lambda value: aggregate_counts(ROWS, value),
    "make_plan": make_plan,
    "flip": lambda value: flip_temperature(value, 0.5),
    "flip threshold": lambda value: flip_temperature(WORDS, value),
    "flip bounds": lambda value: flip_temperature(WORDS, 0.5, bounds=value),
    "count_levels": count_levels,
    "parse": Verdict.parse,
    "weight": WeightScheme.DEFAULT.weight,
    "scheme": WeightScheme.resolve,
    "new scheme": lambda value: WeightScheme("own", value),
    "temperature": check_temperature,
    "exponent": lambda value: exponent(0.5, p_min=value),
    "bounds": lambda value: Bounds(t_max=value),
    "binary": binary_counts,
    "ablation": ablation_plans,
    "from deepeval": from_deepeval,
    **{
        f"score_agg {name}": lambda value, name=name: score_agg(**{"scores": [0.5, 0.0], name: value})  # type: ignore[misc]  # bound at once
        for name in ("scores", "temperature", "penalty", "eps_for_neg_p")
    },
    "score_agg, strict": lambda value: score_agg(value, 0.1),
    "fuse": fuse,
    **{
        f"fuse {name}": lambda value, name=name: fuse([[0.5, 0.6]], **{name: value})  # type: ignore[misc]  # bound at once
        for name in ("weights", "temperature", "eps", "bounds")
    },
    "panel": lambda value: evaluate_panel(value, [1.0], 0.5, 5),
    "panel weights": lambda value: evaluate_panel([[4]], value, 0.5, 5),
    "panel threshold": lambda value: evaluate_panel([[4]], [1.0], value, 5),
    "panel most": lambda value: evaluate_panel([[0.1]], [1.0], 0.5, value),
    "from_verdicts": Assessment.from_verdicts,
}  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_value_is_used_or_refused_by_name(function: str) -> None:
    for odd in odd_values():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                FUNCTIONS[function](odd)
            except TCVAError as error:
                assert str(error), repr(odd)  # noqa: PT017  # it may be raised, and need not be


NAMED: list[tuple[Callable[..., object], tuple[Any, ...], dict[str, Any], str]] = [
    (aggregate, ("fully",), {}, "verdicts must be a list, got 'fully'"),
    (aggregate, (["fully", "supported"],), {}, "'supported'"),
    (aggregate, (WORDS, 0), {}, "got 0"),
    (aggregate, (WORDS, 0.05), {}, "0.05"),
    (aggregate, (WORDS,), {"scheme": (1, 2, 0, 0, 0)}, "got 2.0 for mostly"),
    (aggregate, (WORDS,), {"scheme": (0.5, 0.9, 0, 0, 0)}, "never rise, got (0.5, 0.9, 0, 0, 0)"),
    (aggregate, (WORDS,), {"scheme": (1, 0.9, None, 0, 0)}, "five numbers"),
    (aggregate, (WORDS,), {"eps": 0.0}, "got 0.0"),
    (aggregate, (WORDS,), {"bounds": (0, 1)}, "got (0, 1)"),
    (aggregate_counts, ([1, 0, 0, 0, 0], [0.5]), {}, "(5,)"),
    (aggregate_counts, ([[1, 0, 0, 0, 0], [0, -1, 0, 0, 0]], [0.5]), {}, "got -1.0 for mostly in row 1"),
    (aggregate_counts, ([[math.nan, 0, 0, 0, 0]], [0.5]), {}, "got nan for fully in row 0"),
    (flip_temperature, (WORDS, None), {}, "threshold must be between 0 and 1, got None"),
    (flip_temperature, ([1, "fully", 0, 0, 0], 0.5), {}, "counts"),
    (Bounds, (), {"p_min": 1.0, "p_max": 1.0}, "p_min=1.0, p_max=1.0"),
    (Bounds, (), {"t_min": 0.5, "t_max": 0.5}, "t_min=0.5, t_max=0.5"),
    (from_deepeval, (["maybe"],), {}, "got 'maybe'"),
    (score_agg, ([1e-40, 1.0], 0.1), {}, "exponent -8"),
    (score_agg, ([0.5, "a"],), {}, "got [0.5, 'a']"),
    (rubric, ("tone", "Is polite."), {}, "got 'Is polite.'"),
    (rubric, ("tone", []), {}, "'tone'"),
    (Criterion, (3, "Decide."), {}, "name of a criterion must be a string, got 3"),
    (Criterion, ("x", "Decide.", "response", "response"), {}, "'response'"),
    (fuse, ([[0.5, 1.5]],), {}, "got 1.5 for method 1 in row 0"),
    (fuse, ([[0.5, 0.5]],), {"weights": [1]}, "one for each of 2 methods"),
    (fuse, ([[0.5, 0.5]],), {"temperature": 2}, "got 2"),
    (fuse, ([[0.5, 0.5]],), {"eps": 5e-324, "temperature": 0.1}, "got 5e-324"),
    (evaluate_panel, ([[6]], [1], 0.5, 5), {}, "got 6.0 for criterion 0 in row 0"),
    (evaluate_panel, ([[1, 2]], [0.5, 0.6], 0.5, 5), {}, "got [0.5, 0.6]"),
    (evaluate_panel, ([[1]], [1], 1.5, 5), {}, "passing_threshold must be between 0 and 1, got 1.5"),
    (evaluate_panel, ([[1]], [1], 0.5, 0), {}, "got 0"),
    (evaluate_panel, ([[1, None]], [0.5, 0.5], 0.5, 5), {}, "got nan for criterion 1 in row 0"),
    (flip_temperature, (WORDS, 0.5), {"bonds": 1}, "'bonds' of flip_temperature; did you mean 'bounds'"),
    (aggregate_counts, ([[1, 0, 0, 0, 0]], [0.5]), {"flor": 1}, "'flor' of aggregate_counts; did you mean 'floor'"),
]  # fmt: skip


def test_messages_name_the_value_and_what_is_wanted() -> None:
    for function, given, options, said in NAMED:
        with pytest.raises(InvalidValueError, match=re.escape(said)):
            function(*given, **options)


def test_what_iterates_counts_like_a_list() -> None:
    wanted = aggregate(WORDS)
    assert (aggregate(word for word in WORDS), aggregate(np.array(WORDS))) == (
        wanted,
        wanted,
    )
    short: Any = np.float32(0.25)
    assert aggregate(WORDS, 2 * short) == wanted
    assert aggregate(WORDS, short, eps=short) == aggregate(WORDS, 0.25, eps=0.25)

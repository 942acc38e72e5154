"""Gates: the least mean score, pass rate and coverage, for all methods or for one by its name.

What failed is told with the worst samples and their claims: a figure alone sends nobody anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Final

from tcva_adapters.compare.graded import Case, Graded
from tcva_adapters.compare.grouping import group_note
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import Part, Wrapped, counted
from tcva_adapters.stats.scipy_extra import scipy_module

MOST: Final = 10
"""Samples that are named with failed gates."""

CLAIMS: Final = 3
"""Claims that are named with each."""

SCORE: Final = "mean score"
PASS_RATE: Final = "pass rate"  # noqa: S105  # it is a figure
COVERAGE: Final = "coverage"
JUDGED: Final = "judged"
"""That the judge failed on no sample: asked for wherever a gate says nothing of the coverage."""

CHANGE: Final = "change since the baseline"
"""Of the mean score, over the runs that `watch` remembers."""

_FLAGS: Final = {SCORE: "min_score", PASS_RATE: "min_pass_rate", COVERAGE: "min_coverage"}
_DIGITS: Final = range(3, 17)
_SHOWN: Final = 160
_WORD: Final = 64

Given = float | str | Sequence[float | str] | Mapping[str, float] | None
"""A number for every method, ``NAME=NUMBER`` for one, several of them, or numbers by name."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate and what came of it.

    Attributes:
        method: Which samples it looks at.
        figure: What it looks at: ``mean score``, ``pass rate``, ``coverage``, ``judged`` or ``change
            since the baseline``.
        least: What it asks for.
        reached: What there is, or its lower confidence bound; None where there is no such figure,
            and the gate failed.
        failed: Whether that is less.
        text: The same in a few words.
    """

    method: str
    figure: str
    least: float
    reached: float | None
    failed: bool
    text: str

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Gated:
    """Methods and what came of their gates.

    Attributes:
        graded: The methods.
        gates: In the order of the methods; empty where none were asked for.
        fallen: What a gate on the change since a baseline looks at, those that lost most first.
    """

    graded: Sequence[Graded]
    gates: Sequence[Gate]
    fallen: Sequence[Case] = ()

    @property
    def failed(self) -> list[Gate]:
        """The gates that were not reached."""
        return [gate for gate in self.gates if gate.failed]

    def to_dict(self) -> dict[str, Any]:
        """As plain values; ``passed`` is None where there are no gates."""
        passed = not self.failed if self.gates else None
        return {"passed": passed, "checked": [gate.to_dict() for gate in self.gates]}

    def worst(self, most: int = MOST) -> list[tuple[Graded, Case]]:
        """The samples that failed gates look at, the worst of each first, each once.

        Below a mean these are the lowest scores, below a pass rate those that do not pass, below a
        coverage those without a score; where there is no mean and no pass rate, those, too. Where
        several gates failed, they take turns. A sample is named for one method alone where another
        says the same of it: the same claims, or the same reason why it has no score.

        Args:
            most: How many at most.
        """
        methods = {method.name: method for method in self.graded}
        looked_at = [
            (methods[gate.method], self._looked_at(gate, methods[gate.method]))
            for gate in self.failed
            if gate.method in methods
        ]
        longest = max((len(cases) for _, cases in looked_at), default=0)
        named: dict[object, tuple[int, int, Case]] = {}
        for rank, turn in product(range(longest), range(len(looked_at))):
            method, cases = looked_at[turn]
            if len(named) == most:
                break
            if rank < len(cases):  # the worst of each gate, then the next ones
                case = cases[rank]
                named.setdefault(_said_of(method, case), (turn, rank, case))
        return [
            (looked_at[turn][0], case) for turn, _, case in sorted(named.values(), key=_in_turn)
        ]

    def _looked_at(self, gate: Gate, method: Graded) -> Sequence[Case]:
        if gate.figure == CHANGE:
            return self.fallen
        if gate.reached is None:
            return method.unscored
        if gate.figure == SCORE:
            return method.below(gate.least)
        if gate.figure == PASS_RATE:
            return method.not_passed
        if gate.figure == JUDGED:
            return method.unscored[: method.lost]
        return method.unscored

    def parts(self) -> Iterator[Part]:
        """What came of the gates, those that failed first, and their worst samples with claims."""
        asked = (gate for gate in self.gates if gate.failed or gate.figure != JUDGED)
        for gate in sorted(asked, key=lambda gate: not gate.failed):
            came = "failed" if gate.failed else "passed"
            yield Wrapped(foldable(f"gate {came}: {gate.text}"), indent=2)
        if self.worst():
            yield "worst samples:"
        yield from self.worst_parts()

    def worst_parts(self) -> Iterator[Part]:
        """The worst samples alone, each with its score and its lowest claims."""
        several = len(self.graded) > 1
        for method, case in self.worst():
            of = f" ({method.name})" if several else ""
            said = f"{clipped(case.sample)}{of}: {verdict_of(case, method)}"
            yield Wrapped(f"  {foldable(said)}", indent=2)
            for line in claim_lines(case):
                yield Wrapped(f"    {foldable(line)}", indent=2)


@dataclass(frozen=True, slots=True)
class Gates:
    """What is asked for; see `Gates.of`.

    Attributes:
        least: By figure and method's name, the empty one for all that are not named.
        confidence: Mean scores and pass rates are to reach it with their lower bound at this
            confidence; None takes the figures themselves.
    """

    least: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    confidence: float | None = None

    @classmethod
    def of(
        cls,
        min_score: Given = None,
        min_pass_rate: Given = None,
        min_coverage: Given = None,
        *,
        confidence: float | None = None,
    ) -> Gates:
        """Gates from numbers.

        Args:
            min_score: Least mean score.
            min_pass_rate: Least share of the scored samples that pass.
            min_coverage: Least share of the samples that have a score.
            confidence: From 0.5 to 1, without these two: how sure it has to be that other samples
                of the same kind, judged anew, reach the first two as well. See `Graded.sure_mean`.
                Where samples were graded with the groups that they belong to, other groups.

        Raises:
            MissingDependencyError: A confidence without scipy.
            InvalidValueError: A number outside [0, 1] (the mean score of a method that is named may
                be any finite number: it may have a scale of its own), a text of another form, or a
                method that is named twice.

        >>> Gates.of(min_score=["0.5", "ragas faithfulness=0.8"]).least["mean score"]
        {'': 0.5, 'ragas faithfulness': 0.8}
        """
        given = {SCORE: min_score, PASS_RATE: min_pass_rate, COVERAGE: min_coverage}
        least = {name: _read(name, value) for name, value in given.items()}
        _check_confidence(confidence, are_asked=bool(least[SCORE] or least[PASS_RATE]))
        return cls(least, confidence)

    @property
    def are_asked(self) -> bool:
        """Whether there are any."""
        return any(self.least.values())

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse methods that there are not, before anything is paid for.

        Raises:
            InvalidValueError: A gate is for another method, or for figures that no method has.
        """
        for figure, wanted in self.least.items():
            unknown = next((name for name in wanted if name and name not in names), None)
            if unknown is not None:
                msg = (
                    f"{_FLAGS[figure]} {unknown!r}={wanted[unknown]:g}: nothing here is called "
                    f"{unknown!r}; there are {', '.join(names)}"
                )
                raise InvalidValueError(msg)

    def judge(self, graded: Sequence[Graded]) -> Gated:
        """What comes of the gates.

        A number without a name is for every method that is not named, but not for what stands
        behind one (a judge of a panel). Where the judge lost samples and no coverage is asked for,
        that fails, too; so does a gate on a method that there is not.
        """
        names = {method.name for method in graded}
        absent = [
            Gate(name, figure, least, None, failed=True, text=f"{name}: there are no such scores")
            for figure, wanted in self.least.items()
            for name, least in wanted.items()
            if name and name not in names
        ]
        return Gated(graded, [*(gate for method in graded for gate in self._of(method)), *absent])

    def _of(self, method: Graded) -> Iterator[Gate]:
        least = {
            figure: number
            for figure, wanted in self.least.items()
            if (number := wanted.get(method.name, None if method.is_part else wanted.get("")))
            is not None
        }
        if not least:
            return  # the figures of a method read all of its samples
        reached = {
            SCORE: method.mean,
            PASS_RATE: method.pass_rate,
            COVERAGE: method.coverage,
        }
        for figure, number in least.items():
            if self.confidence is None or figure == COVERAGE:
                yield _gate(method.name, figure, number, reached[figure])
            else:
                yield _sure_gate(method, figure, number, reached[figure], self.confidence)
        if COVERAGE not in least:
            yield _judged(method)


def _gate(method: str, figure: str, least: float, reached: float | None) -> Gate:
    if reached is None:
        text = f"{method}: there is no {figure}, and {_whole(least)} is asked for"
        return Gate(method, figure, least, None, failed=True, text=text)
    failed = reached < least
    relation = "<" if failed else ">="
    text = f"{method}: {figure} {_apart(reached, least)} {relation} {_whole(least)}"
    return Gate(method, figure, least, reached, failed, text)


def _sure_gate(
    method: Graded, figure: str, least: float, found: float | None, confidence: float
) -> Gate:
    bound = method.sure_mean(confidence) if figure == SCORE else method.sure_pass_rate(confidence)
    if found is None or bound is None:
        low, high = method.scale
        bounded = f"lower bound of the {figure} (scores leave [{low:g}, {high:g}])"
        return _gate(method.name, figure if found is None else bounded, least, None)
    gate = _gate(method.name, figure, least, bound)
    text = (
        f"{method.name}: {figure} {found:.3f}, with {100 * confidence:g}% confidence at least"
        f"{gate.text.removeprefix(f'{method.name}: {figure}')}"
    )
    if method.groups is not None:
        text += f"; {group_note(method.groups)}"
    return replace(gate, text=text)


def _check_confidence(confidence: float | None, *, are_asked: bool) -> None:
    if confidence is None:
        return
    number: Any = confidence
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    if not (is_number and 0.5 < number < 1.0):
        msg = f"confidence={confidence!r}; it lies between 0.5 and 1, e.g. 0.95"
        raise InvalidValueError(msg)
    if not are_asked:
        msg = (
            f"confidence={confidence!r} says how sure a gate has to be; give min_score or "
            "min_pass_rate, too"
        )
        raise InvalidValueError(msg)
    scipy_module("special", "a confidence needs")


def _judged(method: Graded) -> Gate:
    size, lost = len(method.cases), method.lost
    text = f"{method.name}: the judge failed on none of {size} samples"
    if lost:
        text = (
            f"{method.name}: {lost} of {counted(size, 'sample')} {'has' if lost == 1 else 'have'} "
            "no score because the judge or the metric failed "
            "(min_coverage says how many may)"
        )
    reached = 1.0 - lost / size if size else 1.0
    return Gate(method.name, JUDGED, 1.0, reached, bool(lost), text)


def _apart(reached: float, least: float) -> str:
    """A figure with as many digits as show that it is another one than the least.

    >>> _apart(0.79996, 0.8), _apart(0.8, 0.8), _apart(0.25, 0.8)
    ('0.79996', '0.800', '0.250')
    """
    texts = (f"{reached:.{digits}f}" for digits in _DIGITS)
    return next(
        (text for text in texts if (float(text) < least) == (reached < least)), f"{reached!r}"
    )


def _whole(least: float) -> str:
    """A number that was asked for, as it was given.

    >>> _whole(0.8), _whole(0.12345678), _whole(1.0)
    ('0.8', '0.12345678', '1')
    """
    short = f"{least:g}"
    return short if float(short) == least else repr(least)


def _said_of(method: Graded, case: Case) -> object:
    """What a method says of a sample beside the score, equal where that is the same."""
    if case.score is None:
        return case.sample, case.why
    return case.sample, case.claims or method.name


def _in_turn(found: tuple[int, int, Case]) -> tuple[int, int]:
    turn, rank, _ = found
    return turn, rank


def _read(figure: str, given: Given) -> dict[str, float]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        pairs = [(str(name), value) for name, value in given.items()]
    else:
        listed = [given] if isinstance(given, float | int | str) else given
        pairs = [_pair(figure, one) for one in listed]
    found: dict[str, float] = {}
    for name, number in pairs:
        if name in found:
            of = f" of {name!r}" if name else ""
            msg = f"{_FLAGS[figure]}{of} is given twice, {found[name]:g} and {number:g}; give one"
            raise InvalidValueError(msg)
        if not (0.0 <= number <= 1.0 or (name and figure == SCORE and math.isfinite(number))):
            of = f" of {name!r}" if name else ""
            msg = f"{_FLAGS[figure]}: the gate on the {figure}{of} is {number!r}; it lies in [0, 1]"
            raise InvalidValueError(msg)
        found[name] = float(number)
    return found


def _pair(figure: str, given: float | str) -> tuple[str, float]:
    name, equals, number = str(given).rpartition("=")
    name = name.strip()
    try:
        if name or not equals:
            return name, float(number)
    except ValueError:
        pass
    msg = f"{_FLAGS[figure]} {given!r}; give a number, or NAME=NUMBER, e.g. faithfulness=0.8"
    raise InvalidValueError(msg)


def verdict_of(case: Case, method: Graded) -> str:
    """A sample's score beside the threshold, or why there is none.

    >>> verdict_of(Case("a", 0.25, passed=False), Graded("m", (), 0.5))
    '0.250 < 0.5'
    """
    if case.score is None:
        return f"no score: {clipped(case.why)}"
    if method.threshold is None or case.passed is None:
        return f"{case.score:.3f}"
    relation = ">=" if case.passed else "<"
    sure = f", {case.sure}" if case.sure else ""
    return f"{_apart(case.score, method.threshold)} {relation} {method.threshold:g}{sure}"


def claim_lines(case: Case, most: int = CLAIMS) -> Iterator[str]:
    """The worst claims of a sample with their reasons, a line each; or what its score rests on."""
    below = case.worst_claims
    for claim in below[:most]:
        why = f" ({clipped(claim.reason)})" if claim.reason else ""
        yield f"{claim.verdict}: {clipped(claim.claim)}{why}"
    if len(below) > most:
        yield f"and {counted(len(below) - most, 'more claim')} below fully"
    if not case.claims and case.score is not None and case.why:
        yield clipped(case.why)


def foldable(text: str) -> str:
    """A text whose words all fit a line of 80 columns."""
    return " ".join(clipped(word, _WORD) for word in text.split(" "))


def clipped(text: str, most: int = _SHOWN) -> str:
    """A text in one line of so many characters; what is cut off ends with three dots."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 3]}..."

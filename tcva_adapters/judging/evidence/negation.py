"""A negation that stands just outside a quote, and so was cut off.

Looked at is the quote's own sentence, up to a comma, a bracket or a new line. Before the quote a
negation counts if nothing but helping words stands between ("not known to be | safe", "a myth
that | it is safe"), behind it if it is the next word, or follows a helping verb ("the drug | is not
safe"). What only looks like a negation ("not only", "no doubt", "whether or not") does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from tcva_adapters.judging.evidence.words import NEGATIONS, Words
from tcva_adapters.lexical.text_features import stem
from tcva_adapters.lexical.word_lists import DENIALS, FUNCTION_WORDS

_REACH: Final = 8
"""Words before a quote that are looked at; behind it, half as many words or characters."""

_NEARLY: Final = frozenset(
    "hardly scarcely barely rarely seldom kaum selten guère rarement apenas raramente едва".split()  # noqa: SIM905  # a word list reads better as text
)
_DENYING: Final = {
    "to": frozenset(
        "fail fails failed failing refuse refuses refused unable unlikely impossible".split()  # noqa: SIM905  # a word list reads better as text
    ),
    "that": frozenset(
        "false untrue incorrect myth doubtful doubts doubted deny denies denied disputes disputed".split()  # noqa: SIM905  # a word list reads better as text
    ),
    "from": frozenset({"far"}),
}
"""Words that deny what follows, by the word behind them."""

_HARMLESS_NEXT: Final = frozenset(
    "only just merely simply solely more less fewer later earlier least doubt matter until till "  # noqa: SIM905  # a word list reads better as text
    "other surprise wonder exception nur zuletzt weniger seulement uniquement moins plus "
    "sólo solo solamente menos apenas só somente soltanto alleen только лишь менее более केवल सिर्फ "
    "bara bare kun hanya saja aynı chỉ những μόνο רק "
    # Chinese words that begin like a negation
    "仅 僅 但 只 光 單 单 同 断 斷 少 過 过 久 論 论 管 錯 错 來 来 數 数 線 线 常 知 限".split()
)
_HARMLESS_BEFORE: Final = frozenset("or oder ou o или if".split())  # noqa: SIM905  # see above
_CLAUSES: Final = frozenset(
    # What begins a clause of its own, which a negation before it does not reach
    "and but or because although though while when where which who whom whose since however "  # noqa: SIM905  # a word list reads better as text
    "therefore thus as so than und oder aber wenn weil da y o e pero cuando porque et ou mais car "
    "quand и но а или когда".split()
)
_HELPING: Final = FUNCTION_WORDS - _CLAUSES | frozenset(
    "yet ever really quite necessarily currently always longer considered known shown proven "  # noqa: SIM905  # a word list reads better as text
    "proved thought believed found deemed recommended true clear certain sure evidence proof sign "
    "signs indication guarantee reason case think believe say mean seem seems appear appears "
    "likely expected supposed allowed able whether one called says said suggest suggests indicate "
    "indicates found established demonstrated confirmed study studies trial trials data research "
    "whatsoever "
    "mehr gar ganz wirklich immer jemals etwa worden geworden être vraiment toujours jamais ser "
    "estar sido realmente siempre sempre veramente "
    "это был была было были быть что так очень है हैं था थी थे हो 是 能 可 会 會 应 應 该 該 太 很 再 得 被".split()
)
_FILLING: Final = frozenset(
    "auch noch gar mehr überhaupt immer jedoch aber ook nog ne point também también plus же "  # noqa: SIM905  # a word list reads better as text
    "भी तो 也 都 并 並 还 還 就 是".split()
)
_HELPING_VERBS: Final = frozenset(
    "is are was were be been has have had do does did can could may might will would shall should "  # noqa: SIM905  # a word list reads better as text
    "must ist sind war waren wird werden wurde kann können darf dürfen soll muss hat haben "
    "est sont était nest sera peut doit es está son fue era puede é está foi pode è sono sia "
    "был была было были является есть".split()
)
_FRENCH: Final = frozenset("pas jamais rien aucun aucune plus point guère".split())  # noqa: SIM905  # see above
"""What a verb stands before, with "ne" in front of it."""

_AFTER_A_VERB: Final = frozenset({"not", "none", "nothing", "without", "neither", "nor", "sin"})
"""Behind a quote these deny it only after a helping verb: "Bern not Basel" asserts Bern."""

_JAPANESE: Final = re.compile(
    r"(?:では|じゃ|とは|に|は|で|し|れ|え|き|り|ら|か|せ)?"
    r"(?!なければな|なくてはな|ないと|ないわけ)(?:な[いかくけ]|ありませ|限らな|限りませ|ませ[んぬ])"
)


def negations(words: Sequence[str]) -> int:
    """How many words of a claim or a quote deny something."""
    japanese = len(_JAPANESE.findall("".join(word for word in words if not word.isascii())))
    return japanese + sum(
        word in NEGATIONS or word in _NEARLY or stem(word) in DENIALS for word in words
    )


def denied_before(words: Words, begin: int) -> bool:
    """Whether a negation just before a word of a passage denies what begins there."""
    since = max(_last(words.stops, begin), _last(words.pauses, begin), begin - _REACH)
    since = max(since, _last(words.ends + 1, begin), 0)
    before = words.between(since, min(begin + 2, len(words)))  # with two words of the quote
    for i in range(begin - since - 1, -1, -1):
        word, following = before[i], before[i + 1]
        preceding = before[i - 1] if i else ""
        if word in _DENYING.get(following, ()):
            return preceding not in NEGATIONS  # "cannot fail to" asserts
        if word in NEGATIONS or word in _NEARLY:
            return _denies(before[i:]) and preceding not in _HARMLESS_BEFORE
        if word not in _HELPING:
            return False
    return False


def denied_behind(words: Words, end: int) -> bool:
    """Whether a negation just behind a word of a passage denies what ends before it."""
    until = min(_next(marks, end) for marks in (words.stops, words.pauses, words.ends))
    last, *behind = words.between(end - 1, min(until, end + _REACH))
    if _JAPANESE.match("".join(behind)):
        return True
    if "ne" in (last, *behind[:1]) and not _FRENCH.isdisjoint(behind[:3]):
        return True
    after_verb = last in _HELPING_VERBS
    for i, word in enumerate(behind[: _REACH // 2]):
        if word in NEGATIONS:
            return (after_verb or word not in _AFTER_A_VERB) and _denies(behind[i:])
        if word not in _FILLING and word not in _HELPING_VERBS:
            return False
        after_verb = after_verb or word in _HELPING_VERBS
    return False


def _denies(words: Sequence[str]) -> bool:
    """Whether the negation that they begin with denies: "not only" and "no. 1" do not."""
    word, following, third = (*words[:3], "", "")[:3]
    is_number = word == "no" and following[:1].isdigit()
    return following not in _HARMLESS_NEXT and third != "than" and not is_number


def _last(marks: np.ndarray[tuple[int], np.dtype[np.int64]], at: int) -> int:
    """The last mark up to an index, -1 without one."""
    place = int(marks.searchsorted(at, "right"))
    return int(marks[place - 1]) if place else -1


def _next(marks: np.ndarray[tuple[int], np.dtype[np.int64]], at: int) -> int:
    """The first mark from an index on, which is what ends the passage if nothing else does."""
    place = int(marks.searchsorted(at))
    return int(marks[place]) if place < len(marks) else at + _REACH

"""Compare what fills the same place in a claim and its source: a unit, a month, a bound, a name."""

from __future__ import annotations

import re
from collections import defaultdict
from math import isclose

from tcva_adapters.text.lists import (
    patterns,
    variants,
    word_list,
)
from tcva_adapters.text.numbers import value_of
from tcva_adapters.text.words import (
    FUNCTION_WORDS,
    LANGUAGE_WORDS,
    tokenise,
)

_MEMBERS = variants("members")
_DETERMINERS = word_list("determiners")
_EITHER_WAY = word_list("either_way")
_CAPITALISING = word_list("capitalising")
_COMMON = LANGUAGE_WORDS["English"]
_UNSPACED = variants("unspaced")
_TWO_SIDED = word_list("two_sided")
_LEAVING_OPEN = word_list("leaving_open")
_AM_OR_PM = re.compile(r"(?i)(\d)\s?([ap])\.?\s?m\b\.?")
# An uncommon word that begins a sentence is a name if a verb in the singular follows.
_SUBJECT = re.compile(
    r"""
    (?:^|[.!?][ ])
    ([^\W\d_a-zß-ÿ][^\W\d_]+)
    (?:[ ][^\W\d_a-zß-ÿ][^\W\d_]+)?
    [ ]
    (?:
        is|was|has|had|will|won|beat|wrote|made|led|held|built|sold|bought
        |[a-z]+ed
        |[a-z]+[a-rt-z]s
        |ist|war|hat|wird|wurde|liegt
        |est|était|fut
        |es|era|fue
        |è|é|foi|ligt|är|er|var
    )\b
    """,
    re.VERBOSE,
)
_RIVALS = re.compile(patterns("rivals"))
_FILLER = re.compile(r"/\S+")
_CLOSE = 0.25
"""The relative difference of measures in two units that may be equal, as one may be rounded."""
_FAR = 0.6
"""The same for texts in other words, which may add to a measure ("and a half")."""
_ALIKE = re.compile(r"\b(\w{3})\S{0,40} \S{0,40}\b\1")
"""Two names with words that begin alike may be forms of one name."""


def says_otherwise(claim: str, source: str) -> bool:
    """Tell whether a source agrees with a claim except for a detail that the claim excludes.

    In a source with the words of the claim, this is another measure, name or member of a closed class
    (months, say), or two names or roles that have changed places. In a source with other words, it is
    one other member of a class of which the claim names one. Details that may mean the same are no
    difference.

    >>> says_otherwise("The dose is 5 mg.", "The dose is 5 g.")
    True
    >>> says_otherwise("The dose is 5000 mg.", "The dose is 5 g.")
    False
    >>> says_otherwise("It ends in May.", "It ends in June.")
    True
    >>> says_otherwise("Renewals are due in May.", "Each renewal must be paid by the end of June.")
    True
    >>> says_otherwise("The office is open on Wednesday.", "It is open from Monday to Friday.")
    False
    >>> says_otherwise("Spain beat Italy.", "Italy beat Spain.")
    True
    """
    text = f"{claim} . {source}"
    subjects = {name for name in _SUBJECT.findall(text) if name.lower() not in _COMMON}
    names = subjects.union(token.text for token in tokenise(text) if token.capital)
    if not _CAPITALISING.isdisjoint(text.split()):
        names = set()  # nouns have capitals, too

    claimed = _words_with_kinds(claim, names)
    stated = _words_with_kinds(source, names)
    counterpart = claimed
    before, is_there, _ = _frame(stated).partition(_frame(claimed))
    if is_there:
        counterpart = stated[before.count(" ") :]
    places = [at for at, word in enumerate(claimed) if word != counterpart[at]]
    fillers = [claimed[place] for place in places]
    others = [counterpart[place] for place in places]

    if places:
        if sorted(fillers) == sorted(others):
            between = claimed[places[0] + 1 : places[-1]]
            phrase = "+".join(["", *between])
            return _EITHER_WAY.isdisjoint([*between, phrase])
        if {*fillers}.isdisjoint(stated) and all(map(_are_exclusive, fillers, others)):
            return True
    is_as_open = _LEAVING_OPEN & {*claimed} == _LEAVING_OPEN & {*stated}
    return is_as_open and _has_rival(claimed, stated)


def _frame(filled: list[str]) -> str:
    """Join the words with blanks between and around them, and a slash in place of each filler."""
    kinds = _FILLER.sub("/", " ".join(filled))
    return f" {kinds} "


def _has_rival(claimed: list[str], stated: list[str]) -> bool:
    """Tell whether a source on the same matter names another member of a class than a claim does.

    The matter is the same if the source has about half of the claim's other words and classes, and at
    least one of its words; or all words, for a class of which either side may do what is said.
    """
    members = _by_class(claimed)
    rivals = _by_class(stated)
    n_words = len(members[""])
    n_shared_words = len(members[""] & rivals[""])
    shared_kinds = members.keys() & rivals.keys() - {""}
    if 2 * (n_shared_words + len(shared_kinds)) <= n_words + len(members) - 2:
        return False

    for kind in shared_kinds:
        if n_shared_words < (n_words if kind in _TWO_SIDED else 1):
            continue
        both = [*members[kind], *rivals[kind]]
        if len(both) == 2 and both[0] != both[1] and _are_exclusive(*both, close=_FAR):
            return True
    return False


def _by_class(filled: list[str]) -> defaultdict[str, set[str]]:
    """The members of each closed class that a text names; the stems of other words under an empty name."""
    members = defaultdict[str, set[str]](set)
    for kind, member in _RIVALS.findall(" ".join(filled)):
        members[kind].add(member)
    members[""] -= FUNCTION_WORDS
    return members


def _words_with_kinds(text: str, names: set[str]) -> list[str]:
    """The words of a text; before a filler, which another word could replace, its kind and a slash.

    Args:
        text: The text.
        names: Words that are names, also where a sentence begins.

    >>> _words_with_kinds("The clerk in Rome paid 5 kg in May.", {"Rome"})
    ['the', 'role/clerk', 'in', 'name/Rome', 'pay', 'mass/5000.000000000', 'in', 'month/may']
    """
    text = text.replace("per second", "per sec")  # which would be read as a rank
    for form, word in _UNSPACED.items():
        text = text.replace(form, f" {word} ")
    filled = [""]
    for token in tokenise(_AM_OR_PM.sub(r"\1 \2mer ", text)):
        small = token.text.casefold()
        word = _MEMBERS.get(token.text) or _MEMBERS.get(small, token.key)
        kind, slash, size = word.partition("/")
        amount = value_of(filled[-1]) * value_of(size)
        if amount >= 0:
            word = f"{kind}/{amount:.9f}"
            filled.pop()
        elif token.kind == "word" and not slash:
            if filled[-1] in _DETERMINERS:
                word = f"role/{word}"
            elif token.text in names and filled[-1].startswith("name/"):
                word = f"{filled.pop()}+{token.text}"
            elif token.text in names:
                word = f"name/{token.text}"
        filled.append(word)
    return filled[1:]


def _are_exclusive(
    filler: str,
    other: str,
    *,
    close: float = _CLOSE,
) -> bool:
    """Tell whether two fillers of one kind cannot mean the same.

    Args:
        filler: One of them.
        other: The other one.
        close: The relative difference up to which two measures may mean the same.
    """
    kind, one = filler.split("/")
    _, two = other.split("/")
    if kind == "role":
        return False
    if kind == "name":
        may_be_one = _ALIKE.search(f"{one} {two}")
        return not may_be_one and one.isupper() == two.isupper()
    return not isclose(value_of(one), value_of(two), rel_tol=close)

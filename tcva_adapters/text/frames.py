"""Where a claim has something else in a place of its source: a unit, a month, a bound, a name."""

from __future__ import annotations

import re
from collections import defaultdict
from math import isclose
from typing import Final

from tcva_adapters.text.lists import patterns, variants, words
from tcva_adapters.text.numbers import value_of
from tcva_adapters.text.words import FUNCTION_WORDS, LANGUAGE_WORDS, tokenise

_MEMBERS: Final = variants("members")
_DETERMINERS: Final = words("determiners")
_EITHER_WAY: Final = words("either_way")
_CAPITALISING: Final = words("capitalising")
_COMMON: Final = LANGUAGE_WORDS["English"]
_UNSPACED: Final = variants("unspaced")
_TWO_SIDED: Final = words("two_sided")
_LEAVING_OPEN: Final = words("leaving_open")
_HALF_DAY: Final = re.compile(r"(?i)(\d)\s?([ap])\.?\s?m\b\.?")
# An uncommon word where a sentence begins, and a verb of one subject, make a name of it.
_SUBJECT: Final = re.compile(
    r"(?:^|[.!?] )([^\W\d_a-zß-ÿ][^\W\d_]+)(?: [^\W\d_a-zß-ÿ][^\W\d_]+)?"
    r" (?:is|was|has|had|will|won|beat|wrote|made|led|held|built|sold|bought"
    r"|[a-z]+ed|[a-z]+[a-rt-z]s|ist|war|hat|wird|wurde|liegt|est|était|fut|es|era|fue|è|é|foi|ligt|är|er|var)\b"
)
_RIVALS: Final = re.compile(patterns("rivals"))
_FILLER: Final = re.compile(r"/\S+")
_CLOSE: Final = 0.25  # share by which a measure in another unit may be rounded
_FAR: Final = 0.6  # the same where other words may add to it ("and a half")
_ALIKE: Final = re.compile(
    r"\b(\w{3})\S{0,40} \S{0,40}\b\1"
)  # names of which two words begin alike


def says_otherwise(claim: str, source: str) -> bool:
    """Whether a source says of the same what a claim says, but with something else in a place of it.

    In the words of the claim, that is another measure, member of a closed class or name, or two names
    or roles that have changed places; in other words, one other member of a class of which the claim
    names one. What is not known to exclude the other is no difference.

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
        names = set()
    here, there = _filled(claim, names), _filled(source, names)
    frame, frames = (f" {_FILLER.sub('/', ' '.join(filled))} " for filled in (here, there))
    before, is_there, _ = frames.partition(frame)
    part = there[before.count(" ") :] if is_there else here
    places = [at for at, word in enumerate(here) if word != part[at]]
    fillers, others = ([filled[at] for at in places] for filled in (here, part))
    if places and sorted(fillers) == sorted(others):
        between = here[places[0] + 1 : places[-1]]
        return _EITHER_WAY.isdisjoint([*between, "+".join(["", *between])])
    if places and {*fillers}.isdisjoint(there) and all(map(_exclude, fillers, others)):
        return True
    return _LEAVING_OPEN & {*here} == _LEAVING_OPEN & {*there} and _has_rival(here, there)


def _has_rival(here: list[str], there: list[str]) -> bool:
    """Whether a source is about the same as a claim, and names one other member of a class than it.

    About half of what the claim says besides, words and classes, is in the source too: one word at
    least, or all of them where both sides of a contract may do something.
    """
    classes, rivals = _by_class(here), _by_class(there)
    shared = len(classes[""] & rivals[""])
    common = classes.keys() & rivals.keys() - {""}
    return 2 * (shared + len(common)) > len(classes[""]) + len(classes) - 2 and any(
        len(classes[kind]) == len(rivals[kind]) == 1
        and classes[kind] != rivals[kind]
        and _exclude(*classes[kind], *rivals[kind], close=_FAR)
        and shared >= (len(classes[""]) if kind in _TWO_SIDED else 1)
        for kind in common
    )


def _by_class(filled: list[str]) -> defaultdict[str, set[str]]:
    """The members of closed classes that a text names; with no class, how its other words begin."""
    members = defaultdict[str, set[str]](set)
    for kind, member in _RIVALS.findall(" ".join(filled)):
        members[kind].add(member)
    members[""] -= FUNCTION_WORDS
    return members


def _filled(text: str, names: set[str]) -> list[str]:
    """The words of a text, and what fills its frame: a class or kind, a slash and what it is there.

    Args:
        text: The text.
        names: Words that are names, also where a sentence begins.

    >>> _filled("The clerk in Rome paid 5 kg in May.", {"Rome"})
    ['the', 'role/clerk', 'in', 'name/Rome', 'pay', 'mass/5000.000000000', 'in', 'month/may']
    """
    text = text.replace("per second", "per sec")  # else it is a rank
    for form, word in _UNSPACED.items():
        text = text.replace(form, f" {word} ")
    filled = [""]
    for token in tokenise(_HALF_DAY.sub(r"\1 \2mer ", text)):
        word = _MEMBERS.get(token.text) or _MEMBERS.get(token.text.casefold(), token.key)
        kind, slash, size = word.partition("/")
        amount = value_of(filled[-1]) * value_of(size)
        if amount >= 0:
            word = f"{kind}/{amount:.9f}"
            filled.pop()
        elif token.kind == "word" and not slash:
            if filled[-1] in _DETERMINERS:
                word = f"role/{word}"
            elif token.text in names:
                is_next = filled[-1].startswith("name/")
                word = f"{filled.pop()}+{token.text}" if is_next else f"name/{token.text}"
        filled.append(word)
    return filled[1:]


def _exclude(filler: str, other: str, *, close: float = _CLOSE) -> bool:
    """Whether two fillers of one kind are known not to mean the same, nor nearly so.

    Args:
        filler: One of them.
        other: The other one.
        close: The share by which measures that may be the same are apart.
    """
    (kind, one), (_, two) = filler.split("/"), other.split("/")
    if kind == "name":
        return one.isupper() == two.isupper() and not _ALIKE.search(f"{one} {two}")
    return kind != "role" and not isclose(value_of(one), value_of(two), rel_tol=close)

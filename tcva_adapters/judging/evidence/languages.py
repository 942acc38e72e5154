"""Script and language of a text, as far as its letters and smallest words tell."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

from tcva_adapters.lexical.word_lists import FUNCTION_WORDS_OF

_LISTED: Final = {
    language: words.split()
    for language, words in {
        "Italian": "il lo la gli le un una di del della dei delle a al alla da dal in nel nella con per su "
        "che non è sono era più anche si e ed o ma ha hanno",
        "Portuguese": "o os as um uma de da do dos das em no na nos nas com por para que não é são "
        "foi como mais também se e ou mas ao à pelo pela",
        "Dutch": "de het een en in is op te dat die niet zijn was voor aan er om bij "
        "ook naar uit wordt worden kan mag",
        "Polish": "i w na z nie się jest że o od po za dla jak ale są był przez ma lub oraz",
        "Swedish": "och i att det som en ett på är av för den med inte har de om var från vid kan",
        "Turkish": "ve bir bu da de için ile olarak olan daha çok ne gibi kadar değil her en",
        "Indonesian": "yang dan di dengan untuk dari pada ini itu tidak adalah ke oleh dalam akan",
        "Russian": "и в во не на с со что как это по но из у за от о об же к для до при был была "
        "было были есть его её их",
        "Ukrainian": "і й та що як це для від до є на з із у в не про за був була було були",
        "Arabic": "في من على إلى أن هذا هذه التي الذي كان كانت لا ما هو هي مع عن قد كل",
        "Persian": "و در به از که این را با است برای آن یک تا هم",
        "Hindi": "है हैं के में की का और से को पर यह नहीं एक था थे थी ने कि लिए",
        "Chinese": "的 是 了 在 和 有 不 也 就 这 那 與 与 為 为 被 把 对 對 及 而 或 于 於",
        "Japanese": "の は が を に で と も た て い る す",
    }.items()
}
_LISTS: Final = {
    language: frozenset(FUNCTION_WORDS_OF.get(language, ())) | frozenset(_LISTED.get(language, ()))
    for language in {**FUNCTION_WORDS_OF, **_LISTED}
}
_KNOWN: Final = {
    word: tuple(language for language, known in _LISTS.items() if word in known)
    for word in frozenset().union(*_LISTS.values())
}
"""The languages that a word is a small word of."""

_ENOUGH: Final = 0.15
"""Share of words that must be small words of a language; in running text it is 0.3 to 0.5."""

_SAMPLE: Final = 400


@lru_cache(maxsize=256)
def small_words(languages: frozenset[str] | tuple[str, ...]) -> frozenset[str]:
    """The function words of some languages; of all that are known without one."""
    return frozenset().union(*(_LISTS[language] for language in languages or _LISTS))


def languages(words: Sequence[str]) -> frozenset[str]:
    """Which languages a text may be in: those that most of its small words are words of.

    Nothing where too few words are known, as in a table or a language without a list here. Han
    characters are Japanese with kana beside them, and Chinese without.

    >>> sorted(languages("met in Paris".split())), sorted(languages("the drug".split()))
    (['Dutch', 'English', 'German', 'Italian'], ['English'])
    """
    some = words[:_SAMPLE]
    if 2 * sum(map(_is_han_or_kana, some)) > len(some):
        return frozenset({"Japanese" if any(map(_is_kana, some)) else "Chinese"})
    hits = Counter(chain.from_iterable(_KNOWN.get(word, ()) for word in some))
    most = max(hits.values(), default=0)
    if not most or most < _ENOUGH * len(some):
        return frozenset()
    return frozenset(language for language, number in hits.items() if number == most)


def _is_kana(word: str) -> bool:
    return "\u3040" <= word[0] <= "\u30ff"


def _is_han_or_kana(word: str) -> bool:
    return not word.isascii() and _script_of(word[0]) == "CJK"


@lru_cache(maxsize=4096)
def _script_of(char: str) -> str:
    script = unicodedata.name(char, "?").partition(" ")[0]
    return "CJK" if script in {"HIRAGANA", "KATAKANA"} else script


def script(text: str) -> str:
    """The script that most of its letters are of; the empty string without letters.

    >>> script("Die Fähre"), script("Паром"), script("渡轮"), script("1 234")
    ('LATIN', 'CYRILLIC', 'CJK', '')
    """
    scripts = Counter(_script_of(char) for char in text if char.isalpha())
    return scripts.most_common(1)[0][0] if scripts else ""

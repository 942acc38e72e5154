"""Sentences that assert nothing: greetings, questions back, offers and refusals."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from tcva_adapters.text.lists import patterns, phrases

_LONGEST: Final = 240  # a longer sentence is never waved through
_SHORT_QUESTION: Final = 4
_EDGES: Final = ' \t.!¡…。！,，;:：~*_"“”‘()（）-–—'
_EMOJI: Final = re.compile("[\u2600-\u27bf\ufe0f\u200d\U0001f000-\U0001faff]")


def _pattern(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{part})" for part in parts), re.IGNORECASE)


_NAME: Final = r"(?-i:[A-Z][\w'-]*)"
_PLACE: Final = (
    rf"(?: (?:the |our |this )?(?:{_NAME}|of|the|and|&|support|service|chat|team)){{1,5}}"
)
_WELCOME: Final = rf"welcome(?: back)?(?: to{_PLACE})?"
_GREETING: Final = _pattern(
    r"(?:hello|hi|hey|dear|good (?:morning|afternoon|evening|day|night))"
    rf"(?:,? (?:there|again|everyone|all|team|{_NAME})(?: {_NAME})?)?(?:,? (?:and )?{_WELCOME})?",
    _WELCOME,
    r"(?:(?:hello|hi) and )?(?:many thanks|thanks|thank you)(?: (?:so|very) much| a lot)?"
    r"(?: for (?:(?:your|the) (?:kind |great |good )?\w+|asking|reaching out|getting in touch|"
    rf"contacting us|writing|waiting|(?:using|choosing|contacting|calling){_PLACE}))?",
    r"(?:have|enjoy) (?:an?|your) (?:\w+ )?(?:day|evening|night|weekend|time|trip|stay|meal)",
    phrases("greetings"),
    patterns("polite"),
)
_ONE_NAME: Final = re.compile(_NAME)
_BETWEEN: Final = re.compile(r" ?[,，、!！;；] ?| [–—-] ")
_OFFER: Final = _pattern(
    rf"(?:just |please )?(?:{phrases('offers')}).{{0,80}}",
    r"(?:if|should) you (?:have|need|want|like|would like|wish)\b.{0,60}\b(?:let (?:me|us) know|"
    r"feel free|just ask|(?:i|we)(?:'m|'re| am| are) here|i can help|(?:happy|glad) to help)\b.{0,40}",
    r"(?:i|we)(?:'m|'re| am| are|'d| would)(?: be)? (?:always |very |more than )?(?:happy|glad|here|"
    rf"pleased|delighted|like|love) to (?:{phrases('helping')})\b.{{0,60}}",
    rf"i (?:can|could) (?:also |gladly )?(?:{phrases('helping')})\b.{{0,60}}\bif you \w+\b.{{0,20}}",
    patterns("offers"),
)
_DOCUMENT: Final = rf"(?:{phrases('documents')})\b"
_THE: Final = r"(?:the|these|this|my|our)(?: [\w'-]+){0,4}?"
_FACTS: Final = (
    rf"(?:(?:any|enough|that|this|the|an|sufficient|further|such) )*(?:{phrases('facts')})\b"
)
_CANNOT: Final = r"(?:cannot|can't|can not|could not|couldn't)"
_REFUSAL: Final = _pattern(
    rf"i (?:{_CANNOT}|(?:am|was) (?:unable|not able) to) (?:{phrases('finding')})\b"
    rf"(?! (?:any|a single|one)\b(?! {_FACTS}| mention))",
    rf"we {_CANNOT} (?:find|answer|tell|say|determine)\b",
    rf"(?:i|we) (?:do not|don't) (?:know\b(?! that)|find\b|have {_FACTS})",
    rf"{_THE} {_DOCUMENT}(?: [\w'-]+){{0,5}}? (?:do|does|did)(?: not|n't) (?:(?:{phrases('saying')})\b(?! that\b)|"
    rf"(?:contain|include|provide|give|have|offer) {_FACTS})",
    rf"(?:this|that|it|the answer) is not (?:\w+ed |given )?in {_THE} {_DOCUMENT}",
    r"(?:das |dazu |diese frage |darüber )?(?:kann|konnte) ich\b.{0,60}\b(?:nicht|keine)\b",
    r"(?:in )?(?:den|die|der) (?:dokumente?n?|unterlagen|texte?n?)\b.{0,40}\b(?:nicht|nichts)\b",
    r"no (?:puedo|encuentro|tengo información|dispongo)\b|los documentos no \w+n\b",
    r"je ne (?:peux|trouve|sais|dispose)\b.{0,60}\bpas\b|les documents ne .{0,40}\bpas\b",
    r".{0,30}(?:文書|資料|文脈).{0,20}(?:記載|書かれて|情報).{0,8}(?:ません|ない)|(?:お答え|回答)(?:でき|いた)",
    r"我?(?:无法|不能)(?:回答|确定|找到|提供)|\w{0,2}(?:文档|文件|资料|上下文).{0,7}(?:没有|未).{0,4}[提说记]",
)
_REFUSED: Final = _pattern(patterns("refusals"))
_APOLOGY: Final = _pattern(
    rf"(?:(?:i am|i'm|we are|we're) (?:very |so )?(?:sorry|afraid)|{phrases('apologies')})"
    r"[,.:;、，。]?(?: ?(?:but|that(?!'s| is)|aber|pero|mais|が))?[,、，]? ?"
)
_QUESTION: Final = _pattern(
    rf"(?:(?:and|so|but|now|for|to|with|in|on|at|by|from) )?(?:{phrases('asking')})\b"
)
_OFFERED: Final = _pattern(rf"(?:{phrases('offered')})\b")
# A question can smuggle a statement in: "Did you know that ...?", "It is safe, isn't it?"
_LOADED: Final = _pattern(
    r"(?:(?:did|do|have) you (?:know|reali[sz]e|hear|heard)|wussten sie|sabía|saviez-vous)\b",
    r".*,? (?:right|correct|no|\w+n't (?:it|he|she|they|you|we))$",
)
# So can an offer: "Let me know if you agree that it is safe."
_STATED: Final = _pattern(
    r"\b(?:that (?!(?:helps?|works?|is|was|would|makes|answers|suits|sounds|does|with|for|in)\b)|da(?:ss|ß) )"
    r"\W*\w+(?: \w+|\W*[^\x00-\x7f])",
)
_CLAUSE_MARK: Final = _pattern(
    r"[;:—–。]|\. |,? ?\b(?:but|however|although|though|yet|because)\b",
    r", (?:and|so|as|since|which|aber|pero|mais)\b|，(?:但|不过)",
)
_ABOUT_THE_SPEAKER: Final = _pattern(
    r"\s*,?\s*(?:i|we|please|sorry|so i|ich|bitte|yo|por favor|je|请|您可以)\b"
)
_ASSERTS: Final = _pattern(
    r"\b(?:since|which|whereas|(?:that|and|as|so) (?:the|an?|our|this|it|he|she|they|all))\b"
)


@lru_cache(maxsize=4096)
def non_claim_kind(sentence: str) -> str | None:
    """Why a sentence asserts nothing, or None where it may assert something.

    It is careful: in doubt a sentence is a claim. One with a figure is a claim unless it is a
    refusal, and a greeting, question or refusal that goes on to state something is a claim too.
    Instructions to whoever judges are no non-claims; they are claims without support.

    Args:
        sentence: One sentence, best in English, German, Spanish, French, Japanese or Chinese;
            common phrases of a few more languages are known, too.

    Returns:
        ``greeting`` (also thanks, wishes, agreement, apologies, farewells, lead-ins), ``question``, ``offer``, ``refusal`` or None.

    >>> [non_claim_kind(s) for s in ("Hello!", "How can I help?", "The dose is 5 mg.")]
    ['greeting', 'question', None]
    >>> non_claim_kind("I cannot find this in the documents.")
    'refusal'
    >>> non_claim_kind("I cannot find this in the documents, but the dose is 5 mg.") is None
    True
    """
    if len(sentence) > _LONGEST:
        return None
    bare = " ".join(_EMOJI.sub("", sentence).replace("’", "'").split()).strip(_EDGES)
    apology = _APOLOGY.match(bare)
    rest = bare[apology.end() :] if apology else bare
    marks = _CLAUSE_MARK.finditer(rest)
    states = any(not _ABOUT_THE_SPEAKER.match(rest, mark.end()) for mark in marks)
    figure = any(char.isnumeric() and not "\u3400" <= char <= "\u9fff" for char in bare)
    kind = None
    if not figure and _is_polite(bare):
        kind = "greeting"
    elif bare.endswith(("?", "？")):
        kind = (
            None
            if figure or states or _STATED.search(bare)
            else _question_kind(bare.rstrip("?？!！ ").lstrip("¿ "))
        )
    elif not states and (_REFUSED.fullmatch(rest) or _REFUSAL.match(rest)):
        kind = "refusal"
    elif not (
        figure or states or _ASSERTS.search(bare) or _STATED.search(bare)
    ) and _OFFER.fullmatch(bare):
        kind = "offer"
    return kind


def _is_polite(bare: str) -> bool:
    """Whether all that stands between the commas of a sentence is polite, or the name of somebody.

    >>> _is_polite("Thanks, Anna"), _is_polite("Thanks, the drug is safe")
    (True, False)
    """
    if _GREETING.fullmatch(bare):
        return True
    first, *others = _BETWEEN.split(bare)
    return bool(
        others
        and _GREETING.fullmatch(first)
        and all(_GREETING.fullmatch(part) or _ONE_NAME.fullmatch(part) for part in others)
    )


def _question_kind(bare: str) -> str | None:
    if _LOADED.match(bare):
        return None
    if _OFFERED.match(bare):
        return "offer"
    short = 0 < len(bare.split()) <= _SHORT_QUESTION and not bare.isascii()
    return "question" if _QUESTION.match(bare) or short else None

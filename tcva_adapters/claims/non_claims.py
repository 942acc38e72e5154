"""Sentences that assert nothing: greetings, questions back, offers and refusals."""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = r"(?-i:[A-Z][\w'-]*)"
_PLACE: Final = rf"(?:the |our |this )?(?:{_NAME}|of|the|and|&|support|service|chat|shop|team)"

_GREETINGS: Final = (
    rf"(?:hello|hi|hey|greetings|dear)(?:,? (?:there|again|everyone|all|team|friends?|{_NAME})"
    rf"(?: {_NAME})?)?(?:,? (?:and )?welcome(?: to(?: {_PLACE}){{1,5}})?)?",
    rf"(?:good|happy) (?:morning|afternoon|evening|day|night)(?:,? (?:everyone|all|{_NAME}))?"
    rf"(?:,? (?:and )?welcome(?: to(?: {_PLACE}){{1,5}})?)?",
    rf"welcome(?: back)?(?: to(?: {_PLACE}){{1,5}})?",
    r"(?:many thanks|thanks|thank you)(?: (?:so|very) much| a lot)?(?: for (?:(?:your|the) (?:kind |"
    r"great |good )?(?:question|message|patience|interest|feedback|order|enquiry|inquiry|e-?mail|"
    r"call|visit|time|trust)|asking|reaching out|getting in touch|contacting us|writing|waiting))?",
    rf"(?:(?:hello|hi) and )?(?:thanks|thank you) for (?:getting in touch|reaching out|your message|"
    rf"(?:using|choosing|contacting|calling)(?: {_PLACE}){{1,3}})",
    r"sorry (?:to hear that|about that|for the (?:delay|inconvenience|trouble))",
    r"(?:you're|you are) (?:very |most )?welcome",
    r"(?:good ?bye|bye|see you(?: soon| later)?|take care|cheers|sincerely|yours|(?:(?:kind|best|"
    r"warm)(?:est)? (?:regards|wishes)))",
    r"(?:have|enjoy) (?:a|an|your|the rest of your) (?:\w+ )?(?:day|evening|night|weekend|week|time|"
    r"trip|stay|holiday|meal|ride|tea)",
    r"sleep well|good luck|get well soon|all the best|(?:happy|glad) to help|(?:what a |that is a "
    r"|that's a )?(?:very )?(?:great|good|excellent) question|sure|of course|certainly|no problem"
    r"|(?:i )?hope (?:this|that|it) helps",
    r"hallo|guten (?:tag|morgen|abend)|gute nacht|auf wiedersehen|tschüss|(?:vielen )?dank"
    r"|danke(?: schön)?|gern geschehen|gute besserung|alles gute"
    r"|(?:mit )?(?:freundlichen|viele|liebe) grüßen?",
    r"hola|buenos días|buenas (?:tardes|noches)|(?:muchas )?gracias|adiós|de nada|saludos"
    r"|hasta luego|buena suerte",
    r"bonjour|bonsoir|salut|merci(?: beaucoup)?|au revoir|de rien|cordialement"
    r"|bonne (?:journée|soirée|chance|nuit)",
    r"こんにちは|こんばんは|おはよう(?:ございます)?|ありがとう(?:ございます|ございました)?"
    r"|さようなら|お大事に(?:どうぞ)?|どういたしまして|よろしくお願い(?:します|いたします)",
    r"(?:你好|您好|早上好|晚上好|下午好|谢谢|多谢|再见|不客气)[您你]?|祝[您你]\w{2,6}",
)
_OFFERS: Final = (
    r"(?:please )?(?:feel free|don't hesitate|do not hesitate) to (?:ask|contact|reach out|let "
    r"(?:me|us) know|get in touch|write|call)\b.{0,60}",
    r"(?:just |please )?(?:let (?:me|us) know|tell me|ask me)(?: (?:if|whether|when|how|which|what|"
    r"should) .{0,80})?",
    r"(?:if|should) you (?:have|need|want|like|would like|wish)\b.{0,60}\b(?:let (?:me|us) know|"
    r"feel free|just ask|(?:i'm|i am|we're|we are) here|i can help|(?:i'd|i would) be (?:happy|glad)"
    r"|(?:happy|glad) to help)\b.{0,40}",
    r"(?:i am|i'm|we are|we're|i would be|i'd be|we'd be|i would|i'd) (?:always |very |more than )?"
    r"(?:happy|glad|here|pleased|delighted|like|love) to (?:help|assist|write|answer|look|draft|"
    r"continue|go into|prepare|walk)\b.{0,60}",
    r"i (?:can|could) (?:also |gladly )?(?:help|assist|draft|write|explain|prepare|summari[sz]e|"
    r"walk you|go on|continue|look)\b.{0,60}\b(?:if|should|whenever) you (?:like|want|wish|need|"
    r"prefer)\b.{0,20}",
    r"(?:melden sie sich|sagen sie mir|lassen sie (?:mich|es mich) wissen)\b.{0,60}",
    r"(?:wenn|falls) sie .{0,40}(?:helfe ich|schreibe ich|gerne weiter)\b.{0,30}",
    r"(?:avíseme|dígame|no dude en|no dudes en)\b.{0,60}",
    r"(?:n'hésitez pas à|dites-moi)\b.{0,60}",
    r"(?:お気軽に|ご遠慮なく).{0,30}",
    r"(?:如果|如)[您你]?[有需].{0,16}(?:随时|告诉我|联系我).{0,8}",
)

_DOCUMENT: Final = (
    r"(?:documents?|contexts?|passages?|sources?|texts?|excerpts?|records?|manual|leaflet|bible|"
    r"brief|sheet|information|material|articles?|guide|notes|pages?)"
)
_SAYS: Final = (
    r"(?:say|mention|state|specify|answer|address|tell|explain|indicate|(?:contain|include|provide|"
    r"give|have|offer) (?:any |the |this |that |enough |an |further |such )*(?:information|details?|"
    r"answer|data|figures?|instructions?|anything))\b"
)
_MISSING: Final = (
    r"(?:any |enough |that |this |the |an |sufficient |further )*"
    r"(?:information|details?|answer|data|access|documents?)\b"
)
_REFUSALS: Final = (
    r"i (?:cannot|can't|can not|could not|couldn't|(?:am|was) (?:unable|not able) to) (?:find|answer|"
    r"tell|say|determine|confirm|comment|see|help|give you|provide|locate|recommend|advise)\b",
    r"we (?:cannot|can't|could not|couldn't) (?:find|answer|tell|say|determine)\b",
    r"(?:i|we) (?:do not|don't) (?:know\b(?! that)|have " + _MISSING + r"|find\b)",
    rf"(?:the|these|this|my|our)(?: [\w'-]+){{0,4}}? {_DOCUMENT}\b(?: [\w'-]+){{0,5}}? (?:does not|"
    rf"doesn't|do not|don't|did not|didn't) {_SAYS}",
    rf"(?:this|that|it|the answer) is not (?:mentioned |stated |given |covered )?in (?:the|these|my)"
    rf"(?: [\w'-]+){{0,3}}? {_DOCUMENT}\b",
    rf"there (?:is|are) (?:no|nothing)\b.{{0,60}}\bin (?:the|these|my)(?: [\w'-]+){{0,3}}? "
    rf"{_DOCUMENT}\b",
    r"(?:das |dazu |diese frage |darüber )?(?:kann|konnte) ich\b.{0,60}\b(?:nicht|keine)\b",
    r"(?:in )?(?:den|die|der) (?:dokumente?n?|unterlagen|texte?n?)\b.{0,40}\b(?:nicht|nichts|keine)\b",
    r"no (?:puedo|encuentro|tengo información|dispongo)\b",
    r"los documentos no (?:dicen|mencionan|indican|contienen)\b",
    r"je ne (?:peux|trouve|sais|dispose)\b.{0,60}\bpas\b",
    r"les documents ne .{0,40}\bpas\b",
    r".{0,30}(?:文書|資料|文脈).{0,20}(?:記載|書かれて|情報).{0,8}(?:ません|ない)",
    r"(?:お答え|回答)(?:でき|いたしかね).{0,10}",
    r"(?:我)?(?:无法|不能)(?:回答|确定|找到|提供).{0,30}",
    r"(?:这些|该|所给)?(?:文档|文件|资料|上下文)(?:中|里)?.{0,6}(?:没有|未).{0,4}(?:提到|提及|说明|记载).{0,30}",
)
_APOLOGY: Final = re.compile(
    r"(?:(?:i am|i'm|we are|we're) (?:very |so )?(?:sorry|afraid)|sorry|unfortunately|regrettably|"
    r"i apologi[sz]e|es tut mir leid|tut mir leid|leider|lo siento|lamentablemente|désolée?|"
    r"je suis désolée?|malheureusement|申し訳(?:ありません|ございません)|すみません|很抱歉|抱歉|对不起)"
    r"[,.:;、，。]?(?: ?(?:but|that|aber|pero|mais|が))?[,、，]? ?",
    re.IGNORECASE,
)

_QUESTION: Final = re.compile(
    r"(?:(?:and|so|but|now|for|to|with|in|on|at|by|from) )?(?:what|which|who|whom|whose|when|where|"
    r"why|how|do|does|did|can|could|will|would|may|might|should|shall|is|are|was|were|have|has|any|"
    r"anything|was|welche[rsn]?|wer|wann|wo|warum|wie|haben|kann|können|möchten|soll|qué|cuál|quién|"
    r"cuándo|dónde|cómo|puedo|quiere|comment|quel(?:le)?s?|qui|quand|où|pourquoi|est-ce|puis-je|"
    r"voulez-vous|souhaitez-vous)\b",
    re.IGNORECASE,
)
_OFFERED: Final = re.compile(
    r"(?:shall|should|may|can|could) (?:i|we)\b|would you like\b|do you (?:want|need)\b|want me to\b|"
    r"(?:soll|darf|kann) ich\b|möchten sie\b|(?:quiere|desea)s? que\b|puis-je\b|"
    r"(?:voulez|souhaitez)-vous\b",
    re.IGNORECASE,
)
# A question can smuggle a statement in: "Did you know that ...?", "It is safe, isn't it?"
_LOADED: Final = re.compile(
    r"(?:did|do|have) you (?:know|realise|realize|hear|heard)\b|wussten sie\b|sabía\b|saviez-vous\b|"
    r".*,? (?:right|correct|no|(?:is|are|was|were|do|does|did|has|have|ca|could|wo|would)n't "
    r"(?:it|he|she|they|you|we))$",
    re.IGNORECASE,
)
_CLAUSE_MARK: Final = re.compile(
    r"[;:—–。]|\. |,? ?\b(?:but|however|although|though|yet|because)\b|, (?:and|so|as|since|which|aber|"
    r"pero|mais)\b|，(?:但|不过)",
    re.IGNORECASE,
)
_ABOUT_THE_SPEAKER: Final = re.compile(
    r"\s*,?\s*(?:i|we|please|sorry|so i|ich|bitte|yo|por favor|je|请|您可以)\b", re.IGNORECASE
)
_ASSERTS: Final = re.compile(
    r"\b(?:because|since|which|whereas|that (?:the|an?|our|this|it|he|she|they|we|you|all)|"
    r"(?:and|but|as|so) (?:the|an?|our|this|it|he|she|they|all))\b",
    re.IGNORECASE,
)
_SHORT_QUESTION: Final = 4
_LONGEST: Final = 240  # a longer sentence is never waved through
_EDGES: Final = ' \t.!¡…。！,，;:~*_"“”‘()（）-–—👋😊🙂'


def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_GREETING: Final = _any_of(_GREETINGS)
_OFFER: Final = _any_of(_OFFERS)
_REFUSAL: Final = _any_of(_REFUSALS)


def non_claim_kind(sentence: str) -> str | None:
    """Why a sentence asserts nothing, or None where it may assert something.

    It is careful: in doubt a sentence is a claim. One with a figure is a claim unless it is a
    refusal, and a greeting, question or refusal that goes on to state something is a claim too.
    Instructions to whoever judges are no non-claims; they are claims without support.

    Args:
        sentence: One sentence in English, German, Spanish, French, Japanese or Chinese.

    Returns:
        ``greeting`` (with thanks and good wishes), ``question``, ``offer``, ``refusal`` or None.

    >>> [non_claim_kind(s) for s in ("Hello!", "How can I help?", "The dose is 5 mg.")]
    ['greeting', 'question', None]
    >>> non_claim_kind("I cannot find this in the documents.")
    'refusal'
    >>> non_claim_kind("I cannot find this in the documents, but the dose is 5 mg.") is None
    True
    """
    if len(sentence) > _LONGEST:
        return None
    text = " ".join(sentence.replace("’", "'").split())
    bare = text.strip(_EDGES)
    figure = any(char.isnumeric() and not "\u3400" <= char <= "\u9fff" for char in bare)
    if bare.endswith(("?", "？")):
        return None if figure else _question_kind(bare.rstrip("?？!！ "))
    if not figure and _GREETING.fullmatch(bare):
        return "greeting"
    if not figure and _OFFER.fullmatch(bare) and not _ASSERTS.search(bare):
        return "offer"
    return "refusal" if _is_refusal(bare) else None


def _question_kind(bare: str) -> str | None:
    if _CLAUSE_MARK.search(bare) or _LOADED.match(bare):
        return None
    bare = bare.lstrip("¿ ")
    if _OFFERED.match(bare):
        return "offer"
    short = 0 < len(bare.split()) <= _SHORT_QUESTION and not bare.isascii()
    if _QUESTION.match(bare) or short or bare.casefold() in {"anything else", "more questions"}:
        return "question"
    return None


def _is_refusal(bare: str) -> bool:
    rest = _APOLOGY.sub("", bare, count=1) if _APOLOGY.match(bare) else bare
    if not _REFUSAL.match(rest):
        return False
    mark = _CLAUSE_MARK.search(rest)
    while mark:
        if not _ABOUT_THE_SPEAKER.match(rest, mark.end()):
            return False
        mark = _CLAUSE_MARK.search(rest, mark.end())
    return True

"""The small word lists of the lexical judge, in one place. English first, some of four more."""

from __future__ import annotations

from typing import Final

FUNCTION_WORDS_OF: Final[dict[str, frozenset[str]]] = {
    language: frozenset(words.split())
    for language, words in {
        "English": "a about again all also although an and any are as at be because been being "
        "between both but by can could did do does doing during each even for from further had has "
        "have having he her here hers him his how i if in into is it its itself just may me might "
        "more most much must my of off on once only or other our out over own same shall she should "
        "so some such than that the their them then there these they this those through to too under "
        "until up upon us very was we were what when where whether which while who whom whose why "
        "will with within would you your yours since as well however therefore thus per via",
        "German": "der die das den dem des ein eine einen einem einer eines und oder aber ist sind war waren "
        "wird werden wurde hat haben sie er es wir ihr ihre ihren ihrer sein seine im in am an auf aus "
        "bei mit nach von vom vor zu zum zur für über unter um durch als wie wenn dass auch noch sich",
        "Spanish": "el la los las un una unos unas y o pero es son fue era ser está están ha han del de al en con "
        "por para que se su sus lo le les como más muy también cuando si",
        "French": "le les un une des du de et ou mais est sont été était être a ont au aux en dans avec par pour "
        "sur que qui se sa son ses leur leurs ce cette ces il elle ils elles nous vous plus aussi si",
    }.items()
}
FUNCTION_WORDS: Final = frozenset[str]().union(
    *FUNCTION_WORDS_OF.values(),
    # Portuguese and Italian, where they are none of the above
    "os as uma umas foi são il gli dei della delle nel nella che di da".split(),
)

NEGATORS: Final[dict[str, str]] = dict.fromkeys(
    [
        "not",
        "no",
        "never",
        "none",
        "nobody",
        "nothing",
        "nowhere",
        "nor",
        "neither",
        "without",
        "rather",
        "instead",
        "cannot",
        "hardly",
        "nicht",
        "kein",
        "keine",
        "keinen",
        "keinem",
        "keiner",
        "nie",
        "niemals",
        "ohne",
        "nunca",
        "jamás",
        "sin",
        "ningún",
        "ninguna",
        "pas",
        "jamais",
        "sans",
        "aucun",
        "aucune",
        "ni",
    ],
    "not",
)
"""Negators deny what follows them in their clause."""

DENIALS: Final = frozenset(
    [
        "forbid",
        "forbidden",
        "prohibit",
        "ban",
        "avoid",
        "fail",
        "refus",
        "deni",
        "lack",
        "unabl",
        "impossibl",
        "prevent",
        "verboten",
        "prohibido",
        "interdit",
    ]
)
"""Stems of words that deny what stands on either side of them."""

SPELLINGS: Final[dict[str, str]] = {
    variant: word
    for word, variants in {
        "kilogram": "kg kgs kilo kilos kilograms kilogramme",
        "milligram": "mg mgs milligrams milligramme",
        "kilometre": "km kms kilometer kilometers kilometres",
        "metre": "meter meters metres",
        "centimetre": "cm centimeter centimeters centimetres",
        "millimetre": "mm millimeter millimeters millimetres",
        "litre": "liter liters litres",
        "millilitre": "ml milliliter milliliters millilitres",
        "gram": "g grams gramme",
        "hour": "h hr hrs hours",
        "minute": "min mins minutes",
        "percent": "pct percentage prozent",
        "pound": "gbp quid pounds",
        "dollar": "usd dollars",
        "euro": "eur euros",
        "january": "jan",
        "february": "feb",
        "march": "mar",
        "april": "apr",
        "august": "aug",
        "september": "sep sept",
        "october": "oct",
        "november": "nov",
        "december": "dec",
        "monday": "mon",
        "tuesday": "tue tues",
        "wednesday": "wed",
        "thursday": "thu thurs",
        "friday": "fri",
        "doctor": "dr",
        "okay": "ok",
        "television": "tv",
    }.items()
    for variant in variants.split()
}
"""Units, months and days by their usual short forms."""

CONTRACTIONS: Final[dict[str, tuple[str, ...]]] = {
    "cannot": ("can", "not"),
    "can't": ("can", "not"),
    "won't": ("will", "not"),
    "shan't": ("shall", "not"),
    "ain't": ("is", "not"),
    "ca": ("can",),
    "wo": ("will",),
}

IRREGULAR: Final[dict[str, str]] = {
    form: word
    for word, forms in {
        "become": "became",
        "begin": "began begun",
        "break": "broke broken",
        "bring": "brought",
        "build": "built",
        "buy": "bought",
        "catch": "caught",
        "child": "children",
        "choose": "chose chosen",
        "come": "came",
        "draw": "drew drawn",
        "drink": "drank drunk",
        "drive": "drove driven",
        "eat": "ate eaten",
        "fall": "fell fallen",
        "find": "found",
        "fly": "flew flown",
        "foot": "feet",
        "forbid": "forbade forbidden",
        "get": "got gotten",
        "give": "gave given",
        "go": "went gone goes",
        "grow": "grew grown",
        "hold": "held",
        "keep": "kept",
        "know": "knew known",
        "lead": "led",
        "leave": "left",
        "lose": "lost loss",
        "make": "made",
        "man": "men",
        "meet": "met",
        "pay": "paid",
        "rise": "rose risen",
        "run": "ran",
        "say": "said",
        "see": "saw seen",
        "sell": "sold",
        "send": "sent",
        "show": "shown",
        "sink": "sank sunk",
        "speak": "spoke spoken",
        "spend": "spent",
        "stand": "stood",
        "steal": "stole stolen",
        "take": "took taken",
        "teach": "taught",
        "tell": "told",
        "think": "thought",
        "throw": "threw thrown",
        "wear": "wore worn",
        "win": "won",
        "woman": "women",
        "write": "wrote written",
    }.items()
    for form in forms.split()
}

SMALL_NUMBERS: Final[dict[str, int]] = {
    word: value
    for value, words in {
        0: "zero",
        1: "eins",
        2: "two twice zwei dos deux",
        3: "three thrice drei tres trois third",
        4: "four vier cuatro quatre fourth",
        5: "five fünf cinco cinq fifth",
        6: "six sechs seis sixth",
        7: "seven sieben siete sept seventh",
        8: "eight acht ocho huit eighth",
        9: "nine neun nueve neuf ninth",
        10: "ten zehn diez dix tenth",
        11: "eleven elf onze eleventh",
        12: "twelve zwölf doce douze dozen twelfth",
        13: "thirteen dreizehn trece treize",
        14: "fourteen vierzehn catorce quatorze",
        15: "fifteen fünfzehn quince quinze",
        16: "sixteen sechzehn dieciséis seize",
        17: "seventeen siebzehn diecisiete",
        18: "eighteen achtzehn dieciocho",
        19: "nineteen neunzehn diecinueve",
        20: "twenty zwanzig veinte vingt",
        30: "thirty dreißig treinta trente",
        40: "forty vierzig cuarenta quarante",
        50: "fifty fünfzig cincuenta cinquante",
        60: "sixty sechzig sesenta soixante",
        70: "seventy siebzig setenta",
        80: "eighty achtzig ochenta",
        90: "ninety neunzig noventa",
    }.items()
    for word in words.split()
}

VAGUE_NUMBERS: Final[dict[str, int]] = {"one": 1, "once": 1, "first": 1, "second": 2}
"""Number words that are often no number; they never count as a wrong figure on their own."""

SCALES: Final[dict[str, int]] = {
    "hundred": 100,
    "hundert": 100,
    "thousand": 1000,
    "tausend": 1000,
    "mil": 1000,
    "k": 1000,
    "million": 10**6,
    "millions": 10**6,
    "m": 10**6,
    "mn": 10**6,
    "billion": 10**9,
    "billions": 10**9,
    "bn": 10**9,
    "trillion": 10**12,
}

ANTONYMS: Final[dict[str, frozenset[str]]] = {}
"""Stems that cannot both be true of the same thing; each names its opposites."""

for _pair in [
    "before after",
    "above below",
    "abov below",
    "over under",
    "more less",
    "more fewer",
    "most least",
    "more than",
    "increas decreas",
    "increas reduc",
    "rise fall",
    "rais lower",
    "ris fall",
    "higher lower",
    "high low",
    "large small",
    "larger smaller",
    "bigger smaller",
    "longer shorter",
    "long short",
    "faster slower",
    "fast slow",
    "older younger",
    "old young",
    "hot cold",
    "warm cold",
    "early late",
    "earlier later",
    "open clos",
    "begin end",
    "start end",
    "start stop",
    "win los",
    "gain los",
    "pass fail",
    "accept reject",
    "accept refus",
    "allow forbid",
    "allow prohibit",
    "permit forbid",
    "allow ban",
    "buy sell",
    "arriv leav",
    "enter leav",
    "north south",
    "east west",
    "left right",
    "male female",
    "man woman",
    "son daughter",
    "brother sister",
    "father mother",
    "husband wife",
    "alive dead",
    "safe dangerou",
    "safe unsafe",
    "possibl impossibl",
    "legal illegal",
    "guilti innocent",
    "always never",
    "morning evening",
    "am pm",
    "first last",
    "best worst",
    "better worse",
    "include exclud",
    "includ exclud",
    "success failur",
    "support oppos",
    "agre disagre",
    "confirm deni",
    "public privat",
    "wet dry",
    "black white",
    "day night",
    "inside outsid",
    "insid outsid",
    "indoor outdoor",
    "maximum minimum",
    "cheap expensiv",
    "cheaper expensiv",
    "free paid",
    "full empti",
    "import export",
    "victori defeat",
    "approv reject",
]:
    _left, _, _right = _pair.partition(" ")
    ANTONYMS[_left] = ANTONYMS.get(_left, frozenset()) | {_right}
    ANTONYMS[_right] = ANTONYMS.get(_right, frozenset()) | {_left}
ANTONYMS.pop("than", None)

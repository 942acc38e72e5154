"""Quotes that prove nothing, and true ones that look odd, over a few invented passages."""

from __future__ import annotations

from typing import Final, NamedTuple

from tcva_adapters.results.assessment import EvidenceCheck

NOT_FOUND, UNRELATED, NEGATED, CONTRADICTS, TOO_SHORT, UNCHECKED = EvidenceCheck

PASSAGES: Final = (
    # 1
    (
        "Relvin is a syrup against cough. It is not safe for children under twelve. Adults take 15 ml "
        "three times a day, for no longer than ten days. In 2016 the trial led by Dr Ana Keller with "
        "1,240 patients showed that Relvin shortens a cough by two days on average. There is no "
        "evidence that Relvin cures asthma. It has never been tested on pregnant women, and it "
        "shouldn't be taken with alcohol."
    ),
    # 2
    (
        "The ferry to Aldra runs twice a day in winter, and four times a day from May to September. It "
        "does not run on 24 December. Tickets cost $12.50; children under 6 don't pay. Dogs aren't "
        "allowed on deck – only in the hold. Captain Brandt and Captain Ossing met in Paris in 1998."
    ),
    # 3, with the marks of tokenised text and of a bad scan
    (
        "The lake -LRB- depth : 1,250 m -RRB- has been protect-\ned since 1984 . Fishing is allow ed "
        "with a permit . `` It 's the cleanest lake of the region , '' said mayor Lena Holt . Mayor Holt "
        "sued the Norvik company in 2009 after the company had polluted the lake for eleven years , and "
        "the court ordered Norvik to pay 3.2 million euros to the town ."
    ),
    # 4, a table and some code
    (
        "| line | stop | departs |\n|---|---|---|\n| 7 | Harbour | 09:15 |\n| 8 | Old Mill | 10:40 |\n"
        "| 9 | Dogs not allowed | 11:00 |\n| 10 | Museum | 12:05 |\n\n```python\ndef depart(line):\n"
        "    return TIMES[line] if line in TIMES else None\n```\nSet max_retries=3 in config.yaml."
    ),
    # 5
    (
        "The World Health Organization recommends the vaccine for people over sixty. It is not only "
        "cheap but also effective against all known strains. There is no doubt that it protects for at "
        "least five years. It was not until 1990 that the effect was measured. Hardly anyone reported a fever, and "
        "the vaccine can't be bought without a prescription."
    ),
    # 6 to 14: German, French, Spanish, Portuguese, Russian, Chinese, Japanese, Arabic, Hindi
    (
        "Die Fähre fährt im Winter zweimal am Tag. Hunde dürfen nicht an Deck. Das Medikament ist für "
        "Kinder unter zwölf Jahren nicht geeignet. Die Stadt hat 3.400 Einwohner und ein Krankenhaus."
    ),
    (
        "Le bateau circule tous les jours sauf le dimanche. L'hôpital n'est pas ouvert la nuit. Les "
        "enfants de moins de six ans ne paient pas. Le lac est protégé depuis 1984."
    ),
    (
        "El barco sale a las nueve de la mañana. El museo no abre los lunes. La entrada cuesta doce "
        "euros para los adultos. El medicamento nunca se ha probado en niños."
    ),
    (
        "O barco parte às nove da manhã. A praia não é segura para crianças pequenas. O lago está "
        "protegido desde 1984."
    ),
    (
        "Паром ходит два раза в день зимой. Лекарство не подходит для детей до двенадцати лет. Озеро "
        "охраняется с 1984 года."
    ),
    "冬季，渡轮每天两班。这种药不适合十二岁以下的儿童。湖泊自1984年以来受到保护。",
    "渡し船は冬は一日二回運航します。この薬は子供に安全ではありません。湖は1984年から保護されています。",
    "تعمل العبّارة مرتين في اليوم في الشتاء. هذا الدواء ليس آمنا للأطفال. البحيرة محمية منذ عام 1984.",
    "सर्दियों में नाव दिन में दो बार चलती है। यह दवा बच्चों के लिए सुरक्षित नहीं है। झील 1984 से संरक्षित है।",
    # 15
    (
        "No study has shown that Zelpin helps sleepers. There's no proof whatsoever that it calms dogs. It "
        "is a myth that Zelpin tastes sweet. There is little doubt that Zelpin dissolves in water. Nobody "
        "denies that Zelpin costs less than Relvin. Zelpin is far from harmless."
    ),
    # 16 to 20: Swedish, Danish, Indonesian, Turkish, Greek
    "Färjan är inte gratis för barn. Museet är inte bara stort utan också vackert.",
    "Færgen er ikke gratis for voksne.",
    "Kapal ini tidak gratis untuk anak.",
    "Vapur çocuklar için ücretsiz değildir.",
    "Το πλοίο δεν είναι δωρεάν για παιδιά.",
)


class Case(NamedTuple):
    """A quote for a claim: what the check makes of it (None: the quote is good)."""

    claim: str
    quote: str
    check: EvidenceCheck | None = None


FORGED: Final = [
    # Invented, in whole or in part
    Case("Relvin is sold in Norway.", "Relvin is sold in pharmacies all over Norway", NOT_FOUND),
    Case("The ferry has a restaurant.", "The ferry to Aldra has a restaurant on board", NOT_FOUND),
    Case("The ferry is fast.", "The ferry to Aldra ... takes only twenty minutes", NOT_FOUND),
    Case("The lake is clean.", "", NOT_FOUND),
    Case("The lake is clean.", "...", NOT_FOUND),
    Case("Dogs may come on deck.", "Dogs may come on deck.", NOT_FOUND),  # the claim itself
    # A number, a sign or a unit of it
    Case("Adults take 50 ml.", "Adults take 50 ml three times a day", NOT_FOUND),
    Case("Tickets cost $12.", "Tickets cost $12", NOT_FOUND),
    Case("Tickets cost 12.50 euros.", "Tickets cost €12.50", NOT_FOUND),
    Case("The lake is 250 m deep.", "The lake -LRB- depth : 250 m -RRB-", NOT_FOUND),
    Case(
        "The trial had 1,420 patients.",
        "In 2016 the trial led by Dr Ana Keller with 1,420 patients showed that Relvin shortens",
        NOT_FOUND,
    ),
    Case(
        "It runs five times a day in summer.",
        "The ferry to Aldra runs twice a day in winter, and five times a day from May to September",
        NOT_FOUND,
    ),
    Case("Linie 7 fährt um 9:45.", "7 | Harbour | 09:45", NOT_FOUND),
    # A negation dropped, added or hidden
    Case("It is safe for children.", "It is safe for children under twelve", NOT_FOUND),
    Case("The ferry runs on 24 December.", "It does run on 24 December", NOT_FOUND),
    Case("Dogs are allowed on deck.", "Dogs are allowed on deck", NOT_FOUND),
    Case("The ferry runs on 24 December.", "It does ... run on 24 December", NOT_FOUND),
    Case("Children pay.", "children under 6 ... pay", NOT_FOUND),
    Case("It is never cheap.", "It is not cheap but also effective", NOT_FOUND),
    Case("Relvin is safe.", "Relvin is a syrup ... safe for children under twelve", NOT_FOUND),
    # Cut off at a negation
    Case("Relvin is safe for children.", "safe for children under twelve", NEGATED),
    Case("Relvin cures asthma.", "Relvin cures asthma", NEGATED),
    Case("There is evidence that Relvin cures asthma.", "evidence that Relvin cures", NEGATED),
    Case("Relvin was tested on pregnant women.", "tested on pregnant women", NEGATED),
    Case("Relvin may be taken with alcohol.", "be taken with alcohol", NEGATED),
    Case("The ferry runs on 24 December.", "run on 24 December", NEGATED),
    Case("Dogs are allowed on deck.", "allowed on deck", NEGATED),
    Case("Many people reported a fever.", "anyone reported a fever", NEGATED),
    Case("The vaccine can be bought freely.", "be bought", NEGATED),
    Case("The vaccine is available to buy.", "and the vaccine", NEGATED),
    Case("Das Medikament ist für Kinder geeignet.", "geeignet", NEGATED),
    Case("Hunde dürfen mit.", "Hunde dürfen", NEGATED),
    Case("L'hôpital est ouvert la nuit.", "ouvert la nuit", NEGATED),
    Case("El museo abre los lunes.", "abre los lunes", NEGATED),
    Case("A praia é segura para crianças.", "é segura para crianças pequenas", NEGATED),
    Case("Лекарство подходит для детей.", "подходит для детей до двенадцати лет", NEGATED),
    Case("这种药适合儿童。", "适合十二岁以下的儿童", NEGATED),
    Case("この薬は子供に安全です。", "この薬は子供に安全", NEGATED),
    Case("الدواء آمن للأطفال.", "آمنا للأطفال", NEGATED),
    Case("यह दवा बच्चों के लिए सुरक्षित है।", "यह दवा बच्चों के लिए सुरक्षित", NEGATED),
    Case("Les enfants paient.", "Les enfants de moins de six ans", NEGATED),
    Case("Les enfants paient.", "Les enfants de moins de six ans ne", NEGATED),
    Case("Färjan är gratis.", "gratis för barn", NEGATED),
    Case("Færgen er gratis.", "gratis for voksne", NEGATED),
    Case("Kapal ini gratis.", "gratis untuk anak", NEGATED),
    Case("Vapur ücretsiz.", "çocuklar için ücretsiz", NEGATED),
    Case("Το πλοίο είναι δωρεάν.", "είναι δωρεάν για παιδιά", NEGATED),
    # Denied by what the quote depends on
    Case("Zelpin helps sleepers.", "Zelpin helps sleepers", NEGATED),
    Case("It calms dogs.", "it calms dogs", NEGATED),
    Case("Zelpin tastes sweet.", "Zelpin tastes sweet", NEGATED),
    Case("Zelpin is harmless.", "harmless", NEGATED),
    # Spliced, in another order, from somewhere else
    Case("The ferry is protected.", "The ferry ... has been protected", NOT_FOUND),
    Case("Captain Brandt lives in Aldra.", "Captain Brandt ... to Aldra", NOT_FOUND),
    Case("It runs four times a day in winter.", "four times a day in winter", NOT_FOUND),
    Case("It is free in winter.", "free ... in winter", NOT_FOUND),
    # Another name, or two in each other's place
    Case(
        "Norvik sued the mayor.",
        "Norvik sued the Mayor Holt company in 2009 after the company had polluted the lake for",
        NOT_FOUND,
    ),
    Case(
        "Dr Holt led the trial.",
        "In 2016 the trial led by Dr Ana Holt with 1,240 patients showed that Relvin shortens",
        NOT_FOUND,
    ),
    Case(
        "The court ordered the town to pay.",
        "the court ordered the town to pay 3.2 million euros to Norvik",
        NOT_FOUND,
    ),
    # A word turned into its opposite in a long quote
    Case(
        "The trial showed that Relvin lengthens a cough.",
        "the World Health Organization forbids the vaccine for people over sixty",
        NOT_FOUND,
    ),
    Case(
        "There is no doubt that it fails.",
        "There is no doubt that it is unprotected for at least five years",
        NOT_FOUND,
    ),
    # Small words alone
    Case("The drug cures cancer.", "it is not", UNRELATED),
    Case("The drug cures cancer.", "It has", UNRELATED),
    Case("Children travel free.", "in the", UNRELATED),
    Case("Das Schiff ist neu.", "die", UNRELATED),
    # True, and about something else
    Case("The drug cures cancer.", "met in Paris", UNRELATED),
    Case("The drug cures cancer.", "The ferry to Aldra runs twice a day in winter", UNRELATED),
    Case("Relvin lowers the blood pressure.", "Tickets cost $12.50", UNRELATED),
    Case("The museum was closed last summer.", "It does not run on 24 December", UNRELATED),
    Case("Parking costs 4 euros per hour.", "said mayor Lena Holt", UNRELATED),
    Case("Die Schule beginnt um acht.", "Hunde dürfen nicht an Deck", UNRELATED),
    Case(
        "Le musée ouvre à dix heures.", "Les enfants de moins de six ans ne paient pas", UNRELATED
    ),
    Case("Картина была продана в Лондоне.", "Паром ходит два раза в день зимой", UNRELATED),
    Case("这家公司去年亏损。", "渡轮每天两班", UNRELATED),
    Case("会社は去年赤字でした。", "渡し船は冬は一日二回運航します", UNRELATED),
]

TRUE: Final = [
    # Word for word, however it is written
    Case("Relvin is a cough syrup.", "Relvin is a syrup against cough."),
    Case("Relvin is a cough syrup.", "RELVIN IS A SYRUP AGAINST COUGH"),
    Case("Relvin is a cough syrup.", "“Relvin is a syrup against cough”"),
    Case("Relvin is a cough syrup.", "„Relvin  is a\nsyrup against cough“"),
    Case("Adults take 15 ml.", "Adults take 15 ml three times a day"),
    Case("Ｔhe dose is 15 ml.", "Ａｄｕｌｔｓ ｔａｋｅ １５ ml"),
    Case("Dogs are kept in the hold.", "Dogs aren't allowed on deck - only in the hold"),
    Case("Dogs are kept in the hold.", "Dogs aren’t allowed on deck — only in the hold"),
    Case("Dogs are kept below.", "Dogs are n't allowed on deck"),
    Case("Small children travel free.", "children under 6 do n't pay"),
    Case("The lake is 1250 metres deep.", "The lake (depth: 1250 m)"),
    Case("The lake has been protected since 1984.", "has been protected since 1984"),
    Case("Fishing needs a permit.", "Fishing is allowed with a permit"),
    Case("The mayor calls it the cleanest lake.", "It's the cleanest lake of the region"),
    Case("The mayor calls it the cleanest lake.", 'cleanest lake of the region," said mayor Lena'),
    Case("Tickets cost $12.50.", "Tickets cost $ 12.50"),
    Case("The ferry runs twi\u00adce a day.", "runs tw\u00adice a d\u200bay in winter"),
    # A word left out or misread within the limit
    Case("It runs twice daily.", "The ferry to Aldra runs twice a day in winter, four times a day"),
    Case(
        "The ferry runs twice a day in winter.",
        "The ferry to Aldra rnns twice a day in winter, and four times",
    ),
    Case(
        "The company polluted the lake.",
        "sued the Norvik company in 2009 after the company hod polluted the lake for eleven years",
    ),
    Case(
        "The effect lasts for years.",
        "There is no doubt that it protects us for at least five years",
    ),
    # Ellipses
    Case("The ferry runs four times a day.", "The ferry to Aldra ... four times a day"),
    Case("The ferry runs four times a day.", "The ferry to Aldra […] four times a day from May"),
    Case("The ferry runs to Aldra.", "... The ferry to Aldra runs …"),
    Case(
        "A ticket to Aldra is $12.50.",
        "The ferry to Aldra runs twice a day ... Tickets cost $12.50",
    ),
    Case("Holt won in court.", "Mayor Holt sued the Norvik company ... ordered Norvik to pay"),
    Case(
        "You can fish there with a permit.", "runs twice a day ... Fishing is allowed with a permit"
    ),
    # The claim in other words
    Case("Relvin makes coughs two days shorter.", "shortens a cough by two days on average"),
    Case("Keller ran the study.", "the trial led by Dr Ana Keller"),
    Case("In summer there are four ferries a day.", "four times a day from May to September"),
    Case("The polluter paid the town over 3 million.", "ordered Norvik to pay 3.2 million euros"),
    Case("Protection began in 1984.", "has been protected since 1984"),
    Case("It works against every strain.", "effective against all known strains"),
    # Numbers in words and figures
    Case("Children below 12 must not have it.", "It is not safe for children under twelve"),
    Case("It is for those above 60.", "for people over sixty"),
    Case("Don't use it over 10 days.", "for no longer than ten days"),
    Case("About 1 240 people were in it: 1240.", "with 1,240 patients"),
    Case("They polluted it for 11 years.", "had polluted the lake for eleven years"),
    Case("It departs at a quarter past nine, 9:15.", "Harbour | 09:15"),
    # Names and abbreviations
    Case("The WHO is in favour.", "The World Health Organization recommends the vaccine"),
    Case("Ossing and Brandt know each other.", "Captain Brandt and Captain Ossing met in Paris"),
    # A negation at the edge that denies nothing, or that the claim has as well
    Case("It isn't safe for kids: no children.", "safe for children under twelve"),
    Case("Relvin is unsafe for children.", "safe for children under twelve"),
    Case("Children under twelve can't take it.", "It is not safe for children under twelve"),
    Case("Nothing shows that Relvin cures asthma.", "evidence that Relvin cures asthma"),
    Case("The vaccine is cheap.", "cheap but also effective"),
    Case("The vaccine protects for five years.", "it protects for at least five years"),
    Case("The effect was measured in 1990.", "until 1990 that the effect was measured"),
    Case("Adults take it three times a day.", "three times a day, for"),
    Case("Zelpin dissolves in water.", "Zelpin dissolves in water"),
    Case("Zelpin is cheaper than Relvin.", "Zelpin costs less than Relvin"),
    Case("Museet är stort.", "stort utan också vackert"),
    Case("The ferry costs $12.50.", "Tickets cost $12.50; children under 6"),
    # Tables and code
    Case("Line 8 stops at Old Mill.", "| 8 | Old Mill | 10:40 |"),
    Case("The museum is a stop.", "10 | Museum | 12:05"),
    Case("depart returns None for unknown lines.", "return TIMES[line] if line in TIMES else None"),
    Case("Retries are limited to 3.", "max_retries=3"),
    # Other languages
    Case("Die Fähre fährt im Winter zweimal täglich.", "fährt im Winter zweimal am Tag"),
    Case("Hunde müssen von Deck bleiben, nicht an Deck.", "Hunde dürfen nicht an Deck"),
    Case(
        "Für kleine Kinder ist es nicht geeignet.", "für Kinder unter zwölf Jahren nicht geeignet"
    ),
    Case("Es gibt ein Krankenhaus in der Stadt.", "3.400 Einwohner und ein Krankenhaus"),
    Case("L'hôpital ferme la nuit.", "L’hôpital n’est pas ouvert la nuit"),
    Case("Le lac est protégé.", "Le lac est protege depuis 1984".replace("protege", "protégé")),
    Case("La entrada para adultos son 12 euros.", "La entrada cuesta doce euros para los adultos"),
    Case("El museo cierra los lunes.", "El museo no abre los lunes"),
    Case("O lago é protegido.", "O lago está protegido desde 1984"),
    Case("Паром зимой ходит дважды в день.", "Паром ходит два раза в день"),
    Case("Лекарство не для детей.", "Лекарство не подходит для детей"),
    Case("渡轮冬天一天有两班。", "冬季，渡轮每天两班"),
    Case("湖は保護されています。", "湖は1984年から保護"),
    Case("العبّارة تعمل مرتين يوميا.", "تعمل العبارة مرتين في اليوم".replace("العبارة", "العبّارة")),
    Case("झील संरक्षित है।", "झील 1984 से संरक्षित है"),
]

ACROSS: Final = [
    Case("Relvin lowers blood pressure.", "Tickets cost $12.50", UNCHECKED),  # in no language
    # Another language or script than the claim's, or words too few to tell: the level stays
    Case("The ferry leaves in the morning.", "Die Stadt hat 3.400 Einwohner und", UNCHECKED),
    Case("Dogs must stay below.", "Hunde dürfen nicht an Deck", UNCHECKED),
    Case("The ferry runs two times daily.", "冬季，渡轮每天", UNCHECKED),
    Case("The drug is not safe for children.", "यह दवा बच्चों के लिए सुरक्षित", UNCHECKED),
    Case("It is closed at night.", "L'hôpital n'est pas ouvert la nuit", UNCHECKED),
    Case("Le bateau part le matin.", "It does not run on 24 December", UNCHECKED),
    Case("船は冬に走る。", "Паром ходит два раза в день", UNCHECKED),
    Case("Yes, they do.", "Captain Brandt and Captain Ossing met", UNCHECKED),
    Case("Yes.", "Fishing is allowed with a permit", UNCHECKED),
]

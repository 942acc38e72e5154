"""Much text that is hard to search, and a quote to look for in it."""

import random


def huge(size: int) -> list[tuple[str, list[str], str]]:
    """Of each kind its name, passages of so many characters, and a quote."""
    draw = random.Random(0)
    kinds = ["ferry", "not", "12", "the", "a"] + [f"w{i}" for i in range(500)]
    lines = (" ".join(draw.choices(kinds, k=12)) for _ in range(size // 40))
    sentences = ". ".join(lines)[:size]
    letters = "".join(draw.choices("abcdefgh", k=size))

    def filled(text: str) -> list[str]:
        return [(text * (size // len(text) + 1))[:size]]

    parts = [sentences[i : i + 100] for i in range(0, size, 100)]
    same = ["the ferry runs daily not now " * 3] * (size // 100)
    accents = "\u0301\u0327"
    apart = " ... ".join(
        sentences[i : i + 150] for i in range(9, size // 10, size // 100)
    )
    return [
        ("a table of one number", filled("0 "), "0 " * 4900 + "7"),
        ("fragments nearly there", [sentences], apart),
        ("nearly one long word", filled("a"), "a" * 4900 + "b" + "a" * 4900),
        ("no spaces", [letters], letters[1000:1390]),
        ("single letters", [" ".join(letters[: size // 2])], " ".join(letters[-380:])),
        ("one character of a script without spaces", filled("不"), "不" * 9900),
        ("one letter between ellipses", filled("a ... b ... "), "a ... b ... c"),
        ("many passages", parts, "w1 w2 w3 ... ferry not"),
        ("one passage many times", same, "the ferry runs weekly not now or daily"),
        ("denied everywhere", filled("not safe "), "safe"),
        (
            "accents heaped on a letter",
            ["a" + accents * (size // 2)],
            "a" + accents * 4000,
        ),
        ("a quote of all", [sentences], sentences),
    ]

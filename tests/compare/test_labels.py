"""Files of human ratings: what is read, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcva_adapters.compare.labels import Labels
from tcva_adapters.errors import InvalidValueError, UnreadableInputError


def read(path: Path, text: str) -> Labels:
    path.write_text(text, encoding="utf-8", newline="")
    return Labels.read(path)


def test_csv_as_spreadsheets_and_the_page_write_it(tmp_path: Path) -> None:
    text = "\ufeffid;human;note\r\na;0.5;fine\r\nb;;open\r\nc;Pass;\r\n'=1+1;0;\r\n"
    found = read(tmp_path / "labels.csv", text)
    assert found == Labels("labels.csv", {"a": 0.5, "c": 1.0, "=1+1": 0.0})


def test_jsonl(tmp_path: Path) -> None:
    text = '{"id": "a", "human": 4, "claims": []}\n{"id": 7, "human": true}\n{"id": "b", "human": null}'
    assert read(tmp_path / "labels.jsonl", text).ratings == {"a": 4.0, "7": 1.0}


def test_several_raters_have_a_mean(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,anna,ben,note\na,1,0,x\nb,,0.5,\nc,,,\n", encoding="utf-8")
    found = Labels.read(path, columns="anna, ben")
    assert found.ratings == {"a": 0.5, "b": 0.5}
    assert found.raters == {"anna": {"a": 1.0}, "ben": {"a": 0.0, "b": 0.5}}
    assert Labels.read(path, columns="ben").raters == {}
    with pytest.raises(UnreadableInputError, match="the label of 'a' has no 'carl'"):
        Labels.read(path, columns="anna,carl")
    with pytest.raises(InvalidValueError, match="once each"):
        Labels.read(path, columns="anna,anna")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "id,human\na,1\nb,0\na,0\n",
            r"labels\.csv, 2 and 4: both label the sample 'a'; leave one",
        ),
        ("id,human\na,good\n", "line 2: the label of 'a': 'good' is no rating"),
        ("id,human\na,inf\n", "line 2: the label of 'a': 'inf' is no rating"),
        ("name,human\na,1\n", "line 2: no id; a label has id and human, this has name, human"),
        ("id,stars\na,1\n", "line 2: the label of 'a' has no 'human'; it has id, stars"),
        ("id,human\na,\n", "none of its 1 lines has a rating under 'human'"),
        ("", "labels.csv"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UnreadableInputError, match=said):
        read(tmp_path / "labels.csv", text)


def test_labels_of_other_samples_are_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"ids there are 'a', here 'x', 'y', 'z'$"):
        Labels("labels.csv", {"a": 1.0}).of("xyzw")

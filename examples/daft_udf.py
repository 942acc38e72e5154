"""Judge a Daft DataFrame with a batch function; needs daft.

python examples/daft_udf.py
"""

from __future__ import annotations

from typing import Any

import daft
import pyarrow as pa  # type: ignore[import-untyped]  # it has no types

from tcva_adapters.scale import judge_batch

SETTINGS = {"criterion": "faithfulness", "judge": "lexical", "temperature": 0.5}
SCORE = daft.DataType.struct(
    {"tcva_score": daft.DataType.float64(), "tcva_reason": daft.DataType.string()}
)


@daft.func.batch(return_dtype=SCORE)  # type: ignore[untyped-decorator]  # Daft may not be installed
def judge(answer: daft.Series, contexts: daft.Series) -> Any:
    """Runs in Daft's workers; each builds the judge once."""
    batch = pa.table({"answer": answer.to_arrow(), "contexts": contexts.to_arrow()})
    judged = judge_batch(batch, settings=SETTINGS)
    return (
        judged.select(["tcva_score", "tcva_reason"]).to_struct_array().combine_chunks()
    )


def main() -> None:
    """Judge two rows, and print a line for each."""
    frame = daft.from_pydict(
        {
            "id": ["right", "wrong"],
            "answer": ["Room 1 opens at nine.", "The garden is closed in winter."],
            "contexts": [["Room 1 opens at nine."]] * 2,
        }
    )
    judged = frame.with_column("judged", judge(frame["answer"], frame["contexts"]))
    for row in judged.to_pylist():
        print(f"{row['id']}: {row['judged']['tcva_score']:.2f}")


if __name__ == "__main__":
    main()

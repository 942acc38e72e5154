"""Judge a Spark DataFrame with mapInPandas; needs pyspark, pandas and pyarrow.

python examples/spark_map_in_pandas.py
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd  # type: ignore[import-untyped]  # no stubs here
from pyspark.sql import SparkSession

from tcva_adapters.scale import judge_batch

SETTINGS = {"criterion": "faithfulness", "judge": "lexical", "temperature": 0.5}
ADDED = (
    "tcva_score double, tcva_passed boolean, tcva_reason string, tcva_unscored string, "
    "tcva_error string, tcva_result string, tcva_key string"
)


def judge(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Runs in Spark's workers; each builds the judge once."""
    for batch in batches:
        yield judge_batch(batch, settings=SETTINGS)


def main() -> None:
    """Judge two rows, and print a line for each."""
    spark = SparkSession.builder.master("local[2]").appName("tcva").getOrCreate()
    rows = [
        ("right", "Room 1 opens at nine.", ["Room 1 opens at nine."]),
        ("wrong", "The garden is closed in winter.", ["Room 1 opens at nine."]),
    ]
    frame = spark.createDataFrame(
        rows, "id string, answer string, contexts array<string>"
    )
    judged = frame.mapInPandas(
        judge, f"id string, answer string, contexts array<string>, {ADDED}"
    )
    for row in judged.orderBy("id").collect():
        print(f"{row.id}: {row.tcva_score:.2f}")
    spark.stop()


if __name__ == "__main__":
    main()

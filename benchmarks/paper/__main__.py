"""Recompute Tables 5 to 9 of the TCVA paper and compare them with its figures. Makes no model call.

Run: python -m benchmarks.paper FOLDER
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from benchmarks.paper.reproduction import reproduce
from tcva_adapters.cli.configs import DrawsConfig
from tcva_adapters.cli.output import print_report
from tcva_adapters.cli.settings import parse_settings
from tcva_adapters.errors import TCVAError
from tcva_adapters.progress import progress_of


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables; what is wrong with the arguments or the files ends it with exit code 2."""
    description = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paper", description=description
    )
    folder = "folder with NAME_tcva_scores.json, NAME_prepared.json and so on"
    parser.add_argument("folder", metavar="FOLDER", help=folder)
    for name, meaning in {
        "--best": "use the T with the highest rho",
        "--count-empty": "count the stored scores of answers without claims, as the paper does for USR",
        "--no-lexical": "leave out the lexical judge",
        "--all": "print all tables and all rows",
        "--json": "print the figures as JSON",
    }.items():
        parser.add_argument(name, action="store_true", help=meaning)
    setting = "resamples=2000 or seed=1; repeatable"
    parser.add_argument("--set", action="append", metavar="NAME=VALUE", help=setting)
    asked = parser.parse_args(arguments)
    try:
        drawn = parse_settings(asked.set, DrawsConfig)
        with progress_of("resampling", None, wanted=True):
            report = reproduce(
                asked.folder,
                best=asked.best,
                count_empty=asked.count_empty,
                lexical=not asked.no_lexical,
                **drawn,
            )
    except (TCVAError, OSError) as error:
        parser.error(str(error))
    print_report(report, as_json=asked.json, everything=asked.all)


if __name__ == "__main__":
    main()

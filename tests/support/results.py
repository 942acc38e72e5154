"""The assessments behind results that were written to a file."""

from tcva_adapters.result_reader import read_results
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.result import Result
from tcva_adapters.samples.sources import Source


def read_assessments(source: Source, *, skip_bad: bool = False) -> list[Assessment]:
    results = read_results(source, skip_bad=skip_bad)
    return [result.assessment for result in results if isinstance(result, Result)]

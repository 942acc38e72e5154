from tcva_adapters.compare.labels import Labels as Labels
from tcva_adapters.report.annotations import to_annotations as to_annotations
from tcva_adapters.report.junit import to_junit as to_junit
from tcva_adapters.report.markdown import to_markdown as to_markdown
from tcva_adapters.report.writing import Written as Written
from tcva_adapters.report.writing import write as write

from tcva_adapters.report.annotations import to_annotations as to_annotations
from tcva_adapters.report.junit import to_junit as to_junit
from tcva_adapters.report.markdown import to_markdown as to_markdown

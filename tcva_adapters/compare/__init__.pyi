from tcva_adapters.compare.agreement import disputed as disputed
from tcva_adapters.compare.agreement import panel_agreement as panel_agreement
from tcva_adapters.compare.agreement import panel_report as panel_report
from tcva_adapters.compare.comparison import Comparison as Comparison
from tcva_adapters.compare.evaluation import Evaluation as Evaluation
from tcva_adapters.compare.pipeline import acompare as acompare
from tcva_adapters.compare.pipeline import compare as compare

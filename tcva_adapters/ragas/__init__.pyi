from tcva_adapters.ragas.collections import (
    ScorerCollectionMetric as ScorerCollectionMetric,
)
from tcva_adapters.ragas.collections import TCVACollectionMetric as TCVACollectionMetric
from tcva_adapters.ragas.conversation import TCVAMultiTurnMetric as TCVAMultiTurnMetric
from tcva_adapters.ragas.evaluator import ScorerMetric as ScorerMetric
from tcva_adapters.ragas.evaluator import TCVAMetric as TCVAMetric
from tcva_adapters.ragas.llm import as_judge_model as as_judge_model
from tcva_adapters.ragas.offline import LexicalLLM as LexicalLLM
from tcva_adapters.ragas.own_metrics import (
    ascore_framework_metric as ascore_framework_metric,
)
from tcva_adapters.ragas.own_metrics import framework_metrics as framework_metrics
from tcva_adapters.ragas.own_metrics import (
    score_framework_metric as score_framework_metric,
)
from tcva_adapters.ragas.results import ScorerMetricResult as ScorerMetricResult
from tcva_adapters.ragas.results import ScorerScore as ScorerScore
from tcva_adapters.ragas.results import results_of as results_of
from tcva_adapters.ragas.results import results_to_pandas as results_to_pandas

from tcva_adapters.deepeval.base import Collected as Collected
from tcva_adapters.deepeval.conversation import (
    TCVAConversationalMetric as TCVAConversationalMetric,
)
from tcva_adapters.deepeval.evaluator import ScorerMetric as ScorerMetric
from tcva_adapters.deepeval.evaluator import TCVAMetric as TCVAMetric
from tcva_adapters.deepeval.llm import as_judge_model as as_judge_model
from tcva_adapters.deepeval.offline import LexicalLLM as LexicalLLM
from tcva_adapters.deepeval.own_metrics import (
    ascore_framework_metric as ascore_framework_metric,
)
from tcva_adapters.deepeval.own_metrics import framework_metrics as framework_metrics
from tcva_adapters.deepeval.own_metrics import (
    score_framework_metric as score_framework_metric,
)
from tcva_adapters.deepeval.results import result_of as result_of
from tcva_adapters.deepeval.results import results_of as results_of
from tcva_adapters.deepeval.settings import MetricSettings as MetricSettings

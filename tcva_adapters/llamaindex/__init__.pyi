from tcva_adapters.llamaindex.evaluator import ScorerEvaluator as ScorerEvaluator
from tcva_adapters.llamaindex.evaluator import TCVAEvaluator as TCVAEvaluator
from tcva_adapters.llamaindex.llm import as_judge_model as as_judge_model
from tcva_adapters.llamaindex.offline import LexicalLLM as LexicalLLM
from tcva_adapters.llamaindex.own_metrics import (
    ascore_framework_metric as ascore_framework_metric,
)
from tcva_adapters.llamaindex.own_metrics import framework_metrics as framework_metrics
from tcva_adapters.llamaindex.own_metrics import (
    score_framework_metric as score_framework_metric,
)
from tcva_adapters.llamaindex.query_engine import (
    BelowThresholdError as BelowThresholdError,
)
from tcva_adapters.llamaindex.query_engine import TCVAQueryEngine as TCVAQueryEngine
from tcva_adapters.llamaindex.results import (
    ScorerEvaluationEndEvent as ScorerEvaluationEndEvent,
)
from tcva_adapters.llamaindex.results import (
    ScorerEvaluationResult as ScorerEvaluationResult,
)
from tcva_adapters.llamaindex.results import (
    ScorerEvaluationStartEvent as ScorerEvaluationStartEvent,
)
from tcva_adapters.llamaindex.results import result_of as result_of

from tcva_adapters.langchain.classic import TCVAStringEvaluator as TCVAStringEvaluator
from tcva_adapters.langchain.conversation import (
    TCVAConversationEvaluator as TCVAConversationEvaluator,
)
from tcva_adapters.langchain.conversation import (
    TCVAConversationInput as TCVAConversationInput,
)
from tcva_adapters.langchain.evaluator import ScorerEvaluator as ScorerEvaluator
from tcva_adapters.langchain.evaluator import TCVAEvaluator as TCVAEvaluator
from tcva_adapters.langchain.evaluator import TCVAInput as TCVAInput
from tcva_adapters.langchain.gating import BelowThresholdError as BelowThresholdError
from tcva_adapters.langchain.gating import Gate as Gate
from tcva_adapters.langchain.gating import gate as gate
from tcva_adapters.langchain.langsmith import TCVARunEvaluator as TCVARunEvaluator
from tcva_adapters.langchain.langsmith import (
    create_async_tcva_judge as create_async_tcva_judge,
)
from tcva_adapters.langchain.langsmith import create_tcva_judge as create_tcva_judge
from tcva_adapters.langchain.langsmith import local_client as local_client
from tcva_adapters.langchain.llm import as_judge_model as as_judge_model
from tcva_adapters.langchain.middleware import TCVAMiddleware as TCVAMiddleware
from tcva_adapters.langchain.offline import LexicalLLM as LexicalLLM
from tcva_adapters.langchain.own_metrics import (
    ascore_framework_metric as ascore_framework_metric,
)
from tcva_adapters.langchain.own_metrics import framework_metrics as framework_metrics
from tcva_adapters.langchain.own_metrics import (
    score_framework_metric as score_framework_metric,
)
from tcva_adapters.langchain.results import TCVAOutput as TCVAOutput
from tcva_adapters.langchain.results import result_of as result_of

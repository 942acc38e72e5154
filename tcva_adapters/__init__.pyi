from tcva_adapters._version import __version__ as __version__
from tcva_adapters.ccrs.result import CCRSResult as CCRSResult
from tcva_adapters.ccrs.scorer import CCRS as CCRS
from tcva_adapters.core.aggregation import aggregate as aggregate
from tcva_adapters.core.aggregation import aggregate_counts as aggregate_counts
from tcva_adapters.core.flip import flip_temperature as flip_temperature
from tcva_adapters.core.panel import fuse as fuse
from tcva_adapters.core.temperature import Bounds as Bounds
from tcva_adapters.core.temperature import exponent as exponent
from tcva_adapters.core.verdicts import Verdict as Verdict
from tcva_adapters.core.verdicts import WeightScheme as WeightScheme
from tcva_adapters.criteria import Criterion as Criterion
from tcva_adapters.criteria import rubric as rubric
from tcva_adapters.judges.base import Judge as Judge
from tcva_adapters.judges.panel import Panel as Panel
from tcva_adapters.models.openai_model import (
    OpenAICompatibleModel as OpenAICompatibleModel,
)
from tcva_adapters.result_reader import read_result as read_result
from tcva_adapters.result_reader import read_results as read_results
from tcva_adapters.results.assessment import Assessment as Assessment
from tcva_adapters.results.assessment import ClaimVerdict as ClaimVerdict
from tcva_adapters.results.citations import Citation as Citation
from tcva_adapters.results.citations import CitationOutcome as CitationOutcome
from tcva_adapters.results.citations import Citations as Citations
from tcva_adapters.results.config import Config as Config
from tcva_adapters.results.conversation import ConversationResult as ConversationResult
from tcva_adapters.results.passages import PassageUse as PassageUse
from tcva_adapters.results.result import Result as Result
from tcva_adapters.results.store import VerdictStore as VerdictStore
from tcva_adapters.results.supported import SupportedAnswer as SupportedAnswer
from tcva_adapters.results.writer import write_results as write_results
from tcva_adapters.runner.sharing import clear_shared as clear_shared
from tcva_adapters.samples.conversation import Conversation as Conversation
from tcva_adapters.samples.reader import read_samples as read_samples
from tcva_adapters.samples.sample import Sample as Sample
from tcva_adapters.tcva import TCVA as TCVA

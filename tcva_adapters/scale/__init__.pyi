from tcva_adapters.scale.batch import judge_batch as judge_batch
from tcva_adapters.scale.cost import Estimate as Estimate
from tcva_adapters.scale.cost import estimate as estimate
from tcva_adapters.scale.dataset import judge_dataset as judge_dataset
from tcva_adapters.scale.processes import iter_evaluate as iter_evaluate
from tcva_adapters.scale.run import Judged as Judged
from tcva_adapters.scale.run import judge_files as judge_files
from tcva_adapters.scale.settings import ScorerLike as ScorerLike

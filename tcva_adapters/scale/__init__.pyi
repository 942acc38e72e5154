from tcva_adapters.scale.batch import judge_batch as judge_batch
from tcva_adapters.scale.settings import ScorerLike as ScorerLike

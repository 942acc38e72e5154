from tcva_adapters.scale.batch import judge_batch as judge_batch
from tcva_adapters.scale.cluster import judge_dataset as judge_dataset
from tcva_adapters.scale.cluster import judge_files as judge_files

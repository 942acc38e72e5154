from tcva_adapters.ccrs.metrics import METRICS as METRICS
from tcva_adapters.ccrs.metrics import Metric as Metric
from tcva_adapters.ccrs.metrics import exact_match as exact_match
from tcva_adapters.ccrs.reply import read_rating as read_rating
from tcva_adapters.ccrs.result import CCRSResult as CCRSResult
from tcva_adapters.ccrs.result import MetricAnswer as MetricAnswer
from tcva_adapters.ccrs.scorer import CCRS as CCRS

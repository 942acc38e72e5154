from tcva_adapters.batches.submission import cancel as cancel
from tcva_adapters.batches.submission import collect as collect
from tcva_adapters.batches.submission import status as status
from tcva_adapters.batches.submission import submit as submit

from tcva_adapters.batches.commands import cancel as cancel
from tcva_adapters.batches.commands import collect as collect
from tcva_adapters.batches.commands import status as status
from tcva_adapters.batches.commands import submit as submit

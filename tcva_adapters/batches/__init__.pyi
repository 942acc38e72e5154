from tcva_adapters.batches.drafts import Limits as Limits
from tcva_adapters.batches.ledger import Entry as Entry
from tcva_adapters.batches.report import BatchReport as BatchReport
from tcva_adapters.batches.submission import cancel as cancel
from tcva_adapters.batches.submission import collect as collect
from tcva_adapters.batches.submission import recipe_of as recipe_of
from tcva_adapters.batches.submission import status as status
from tcva_adapters.batches.submission import submit as submit

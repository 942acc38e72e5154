from tcva_adapters.compare.agreement import disputed as disputed
from tcva_adapters.compare.agreement import panel_agreement as panel_agreement

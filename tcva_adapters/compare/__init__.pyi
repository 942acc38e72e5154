from tcva_adapters.compare.agreement import disputed as disputed
from tcva_adapters.compare.agreement import panel_agreement as panel_agreement
from tcva_adapters.compare.calibration.suite import calibrate as calibrate
from tcva_adapters.compare.paper.report import reproduce as reproduce
from tcva_adapters.compare.sweeping import sweep as sweep
from tcva_adapters.compare.systems.analysis import compare_systems as compare_systems

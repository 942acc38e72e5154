from tcva_adapters.compare.labels import Labels as Labels
from tcva_adapters.report.writing import Written as Written
from tcva_adapters.report.writing import write as write

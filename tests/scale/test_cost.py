"""What judging will cost, against what it then costs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tcva_adapters import TCVA, Sample
from tcva_adapters.ccrs import CCRS
from tcva_adapters.data import samples as bundled
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judging.judge import LexicalSampleJudge
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.scale import estimate
from tcva_adapters.scale.cost import LOOKED_AT

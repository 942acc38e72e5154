"""What every view of an assessment shows of it, whatever the settings of the score."""

from __future__ import annotations

from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.json_values import Json
from tcva_adapters.results.reasons import Unscored


class AssessmentView:
    """The judge, the sample and the origin of an assessment, under their own names."""

    assessment: Assessment

    @property
    def unscored(self) -> Unscored | None:
        """Why there is no score of its own."""
        return self.assessment.unscored

    @property
    def judge(self) -> str:
        """The name of the judge."""
        return self.assessment.judge

    @property
    def criterion(self) -> str:
        """The name of what was judged."""
        return self.assessment.criterion

    @property
    def prompt_version(self) -> str:
        """The version of the judge's prompts."""
        return self.assessment.prompt_version

    @property
    def form(self) -> str:
        """In which form verdicts were asked for; empty for judges that are not asked."""
        return self.assessment.form

    @property
    def from_store(self) -> bool:
        """Whether a store had the judgement."""
        return self.assessment.from_store

    @property
    def shared(self) -> bool:
        """Whether another evaluator of this process had it."""
        return self.assessment.shared

    @property
    def metadata(self) -> Json:
        """The sample's metadata."""
        return self.assessment.metadata

    @property
    def members(self) -> tuple[Assessment, ...]:
        """The assessments of additional judges."""
        return self.assessment.members

    @property
    def panel(self) -> tuple[Assessment, ...]:
        """The assessments of a panel's judges, or the repeats of one."""
        return self.assessment.panel

    @property
    def schema_version(self) -> int:
        """The version of the JSON layout."""
        return self.assessment.schema_version

    @property
    def judged_by(self) -> Json:
        """What criterion and judges are known by, see `TCVA.judged_by`."""
        return self.assessment.judged_by

    @property
    def earlier_contexts(self) -> bool:
        """Whether the claims were checked against contexts of earlier turns."""
        return self.assessment.earlier_contexts

    @property
    def sample_id(self) -> str | None:
        """The sample's id."""
        return self.assessment.sample_id

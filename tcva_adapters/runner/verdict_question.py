"""One judge's verdicts on one sample, as a question."""

from __future__ import annotations

from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import JudgeError
from tcva_adapters.judges.base import Judge
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.rounds import Rounds, adrive, drive
from tcva_adapters.models.protocol import Identity, identity_of
from tcva_adapters.models.store_keys import key_of, verdict_key
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.judgement import Unscored
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.runner.questions import Question
from tcva_adapters.runner.sharing import SharedSentences
from tcva_adapters.samples.sample import Sample


class VerdictQuestion(Question):
    """One judge's verdicts on one sample.

    Args:
        judge: The judge that is asked.
        criterion: What is judged.
        sample: The sample.
        share: Whether what the judge says of sentences alone is shared in this process.
        store: Where that is stored.
    """

    answered_by = Assessment

    def __init__(
        self,
        judge: Judge,
        criterion: Criterion,
        sample: Sample,
        *,
        share: bool,
        store: VerdictStore | None,
    ) -> None:
        self.judge = judge
        self.identity = judge_identity(judge)
        self.key = assessment_key(judge, criterion, sample)
        # Another framework's evaluators may have asked the same judge.
        self.sample_fields = {
            "sample_id": sample.id,
            "metadata": sample.metadata,
            "judge": judge.name,
        }
        self._criterion = criterion
        self._sample = sample
        self._sentences = SharedSentences(
            judge, self.identity if share else None, store
        )

    def ask(self) -> Assessment:
        """Ask the judge. Failures are values."""
        if type(self.judge) is LLMJudge:  # a subclass may do more
            return drive(self.rounds(), self.judge.model)
        return _checked(self.judge.assess(self._sample, self._criterion))

    async def aask(self) -> Assessment:
        """The same, awaited."""
        if type(self.judge) is LLMJudge:
            return await adrive(self.rounds(), self.judge.model)
        return _checked(await self.judge.aassess(self._sample, self._criterion))

    def rounds(self) -> Rounds[Assessment]:
        """Ask the judge as a generator of requests; it has to be an `LLMJudge`."""
        rounds: Rounds[Assessment] = self.judge.rounds(
            self._sample, self._criterion, self._sentences
        )
        return rounds

    def failed_answer(self, why: Unscored) -> Assessment:
        """The answer where no call can succeed."""
        return unscored_assessment(why, self.judge, self._criterion, self._sample)


def judge_identity(judge: Judge) -> Identity | None:
    """Tell which judges are the same as this one; None for a judge that answers at once."""
    is_slow = hasattr(judge, "identity") or not judge.is_local
    return identity_of(judge) if is_slow else None


def assessment_key(judge: Judge, criterion: Criterion, sample: Sample) -> str:
    """The store key of a sample's assessment: everything that can change it, nothing else."""
    version = judge.prompt_version
    return verdict_key(sample, criterion, prompt_version=version, **key_of(judge))


def unscored_assessment(
    why: Unscored, judge: Judge, criterion: Criterion, sample: Sample
) -> Assessment:
    """The assessment of a sample that cannot be judged."""
    return Assessment(
        criterion=criterion.name,
        judge=judge.name,
        prompt_version=judge.prompt_version,
        unscored=why,
        sample_id=sample.id,
        metadata=sample.metadata,
    )


def _checked(answer: object) -> Assessment:
    if not isinstance(answer, Assessment):
        raise JudgeError(
            f"the judge returned {type(answer).__name__}; it must return an Assessment"
        )
    return answer

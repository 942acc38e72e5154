/** Causes of wrong and of missing claims, as tcva_adapters/compare/diagnosis names them: what claims do, and what one does. */
export const CAUSES = {
  "relevant passage": { many: "repeat passages that also hold needed facts", one: "wrong: it repeats a passage that also holds needed facts" },
  "irrelevant passage": { many: "repeat other passages", one: "wrong: it repeats a passage that holds no needed fact" },
  "some passage": { many: "repeat passages", one: "wrong: it repeats a passage" },
  hallucination: { many: "stand in no passage", one: "wrong: it stands in no passage" },
  "not retrieved": { many: "were not retrieved (retriever)", one: "missing: it was not retrieved (retriever)" },
  "not used": { many: "were retrieved and not used (generator)", one: "missing: it was retrieved and not used (generator)" },
  unknown: { many: "have an unknown cause", one: "at fault, for an unknown reason" },
};

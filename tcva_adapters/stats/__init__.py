"""Statistics on arrays of scores: agreement with human ratings, intervals and tests.

Users call the following; everything else in this folder serves them and may change:

- `inference`: `estimate` and `difference` with their intervals and tests; `estimates`: what they
  return; `labels_needed`: how many labels an interval of some width takes
- `lower_bound`: of a mean, for gates; `powered_mean`: of all samples by the ratings of some
- `correlation`: `agreement` of scores with ratings, and the mean of correlations, `fisher_average`
- `alpha` and `kappa`: agreement of raters beyond chance
- `raters`: `reliability`, `independence` and `variance_components` of raters, judges and repeats
- `guarantee`: `certify` a gate, and how many labels that needs
- `describe` scores; `holm`: several hypotheses at once; `system_pairs`: all pairs of systems
"""

"""Checking an answer's citations against their passages.

`claims` finds the sentences, with and without markers; `facts`, `quantities` and `clock` what in them must be in the
source word for word. Of `rules`, `derived` tells which numbers may be worked out, `attribution` those that the source
has elsewhere only and what it has in their place, `polarity` and `antonyms` what turns a sentence into its opposite,
and `substitutions` what stands in another's place. `verdict` judges by them; `verifiers` are who may judge.
"""

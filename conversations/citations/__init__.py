"""Checking an answer's citations against their passages.

`claims` finds the sentences, with and without markers; `facts`, `quantities` and `times_of_day` find what in them must
be in the source word for word. Of the `rules`, `derived` accepts numbers that are worked out, `attribution` finds those
that the source has elsewhere only and what it has in their place, `polarity` and `antonyms` find what reverses a
sentence, and `substitutions` finds exchanged words. `verdict` judges by them; `verifiers` are the available judges.
"""

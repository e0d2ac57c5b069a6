"""Checking an answer's citations against their passages.

`statements` finds the sentences, with and without markers; `facts`, `quantities` and `times_of_day` in
`ragsite.language` find the parts that must be in the source literally. Of the `rules`, `derived` accepts computed
numbers, `attribution` finds facts that the source states of something else, and `polarity` and `antonyms` find reversed
meanings. `verdict` combines the rules; `verifiers` are the available judges.
"""

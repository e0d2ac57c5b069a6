"""Checking an answer's citations against their passages, without a model. Pure, deterministic.

`claims` finds the sentences that carry markers; `facts`, `quantities` and `clock` what in them must be in the source
word for word, `derived` which numbers may be worked out, and `placing` those that the source has elsewhere only;
`polarity`, `opposites` and `modality` what turns a sentence into its opposite; `slots` and `characters` what stands in
another's place; and `verdict` judges.
"""

from conversations.citations.claims import Claim, claims
from conversations.citations.verdict import Verdict, check, check_claim

__all__ = ["Claim", "Verdict", "check", "check_claim", "claims"]

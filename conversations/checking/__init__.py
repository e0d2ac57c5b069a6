"""Checking an answer's citations against their passages, without a model. Pure, deterministic.

`claims` finds the sentences that carry markers, `facts` and `quantities` what in them must be in the source word for
word, `polarity` and `opposites` what turns a sentence into its opposite, `slots` what stands in another's place, and
`verdict` judges.
"""

from conversations.checking.claims import Claim, claims
from conversations.checking.verdict import Verdict, check, check_claim

__all__ = ["Claim", "Verdict", "check", "check_claim", "claims"]

"""That a model was asked something small in vain. Pure."""


class NoReply(Exception):
    """A small question that got no answer, or none that can be used.

    `reason` is a stable slug: `no model`, `paused`, `timed out`, `failed`, `empty`, or what is wrong with the reply;
    `detail` is for a person.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail

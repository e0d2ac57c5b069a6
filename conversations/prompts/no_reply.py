"""The exception for a side call that got no usable reply. Pure."""


class NoReply(Exception):
    """A side call that got no reply, or an unusable one.

    `reason` is a stable slug: `no model`, `paused`, `timed out`, `failed`, `empty`, or the problem with the reply;
    `detail` is a message for people.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail

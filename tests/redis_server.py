"""A real Redis for tests, which can be stopped and started again."""

import shutil
import signal
import subprocess
from pathlib import Path

import redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry


class RedisServer:
    """A server at a socket in a folder of the test's own; it keeps nothing."""

    def __init__(self, folder: Path) -> None:
        self.socket = folder / "socket"
        self.url = f"unix://{self.socket}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> "RedisServer":
        """Start it and wait until it answers."""
        program = shutil.which("redis-server")
        assert program, "redis-server is missing; on Debian: apt-get install redis-server"
        quiet = ["--port", "0", "--save", "", "--appendonly", "no", "--loglevel", "warning"]
        self._process = subprocess.Popen([program, "--unixsocket", str(self.socket), *quiet], cwd=self.socket.parent)
        with redis.Redis(unix_socket_path=str(self.socket), retry=Retry(ConstantBackoff(0.05), 1200)) as client:
            assert client.ping()
        return self

    def freeze(self) -> None:
        """Let it answer nobody any more, though it is there."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def kill(self) -> None:
        """End it, as when its machine dies."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

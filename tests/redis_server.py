"""A real Redis server for tests, which can be stopped and restarted."""

import shutil
import signal
import subprocess
from pathlib import Path

import redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry


class RedisServer:
    """A server on a Unix socket in the test's folder, without persistence."""

    def __init__(self, folder: Path) -> None:
        self.socket = folder / "socket"
        self.url = f"unix://{self.socket}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> "RedisServer":
        """Start it and wait until it responds."""
        program = shutil.which("redis-server")
        assert program, "redis-server is missing; on Debian: apt-get install redis-server"
        quiet = ["--port", "0", "--save", "", "--appendonly", "no", "--loglevel", "warning"]
        self._process = subprocess.Popen([program, "--unixsocket", str(self.socket), *quiet], cwd=self.socket.parent)
        with redis.Redis(unix_socket_path=str(self.socket), retry=Retry(ConstantBackoff(0.05), 1200)) as client:
            assert client.ping()
        return self

    def freeze(self) -> None:
        """Make it stop responding, without closing its connections."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def kill(self) -> None:
        """Kill it, as if its machine crashed."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

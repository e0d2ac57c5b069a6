"""The site's ASGI application: HTTP and WebSockets."""

import os
import threading

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ragsite.settings")

# Loads the apps, which the imports below need.
pages = get_asgi_application()

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter  # noqa: E402
from channels.security.websocket import AllowedHostsOriginValidator  # noqa: E402

from conversations import llm  # noqa: E402
from conversations.routing import websockets  # noqa: E402
from retrieval import spaces  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": pages,
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(websockets)),
    }
)


def _warm_up() -> None:
    spaces.warm_up()
    llm.warm_up()


# In the background: the site answers at once, and the first question finds what it needs loaded.
threading.Thread(target=_warm_up, name="warm-up", daemon=True).start()

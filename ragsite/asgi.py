"""The site's ASGI application: HTTP and WebSockets."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ragsite.settings")

application = get_asgi_application()

"""moto's server, which decides one request after another. By itself it checks the condition of a write apart from the write, so that of some
writes at the same time it takes two now and then. Run: python moto-in-turn.py HOST PORT"""

import io
import os
import sys
import threading

from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from werkzeug.serving import run_simple

host, port = sys.argv[1:]
os.environ["MOTO_PORT"] = port
app = DomainDispatcherApplication(create_backend_app)
one = threading.Lock()


def in_turn(environ, start_response):
    # A client that stalls in the middle of its request keeps nobody else waiting.
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = io.BytesIO(body)
    with one:
        return list(app(environ, start_response))


run_simple(host, int(port), in_turn, threaded=True, request_handler=MotoRequestHandler)

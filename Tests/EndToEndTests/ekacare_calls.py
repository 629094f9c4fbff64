"""Runs in the SDK's own environment: reads one call per line, makes it, and writes what came back."""

import json
import operator
import sys

from ekacare import EkaCareClient

answers, sys.stdout = sys.stdout, sys.stderr  # the SDK prints
client = EkaCareClient(**json.loads(sys.argv[1]))
for line in sys.stdin:
    name, arguments = json.loads(line)
    try:
        answer = {"result": operator.attrgetter(name)(client)(**arguments)}
    except Exception as error:
        answer = {"raised": type(error).__name__, "message": str(error)}
    print(json.dumps(answer), file=answers, flush=True)

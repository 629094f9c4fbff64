"""The consultation of consultation.py, spoken into a live socket as fast as people speak: live.py BASE_URL

What may still change is printed as it comes, and written over by what is final. It is a consultation of the
transaction API, too: at the end its note is read.
"""

import json
import pathlib
import sys
import threading
import time

import client
import speech
from websockets.sync.client import connect

HERE = pathlib.Path(__file__).parent
#: Of each message, in seconds.
PIECE = 0.1


def send(socket, samples):
    count = int(PIECE * speech.RATE)
    begin = time.monotonic()
    for number, at in enumerate(range(0, len(samples), count)):
        socket.send(samples[at:at + count].tobytes())
        time.sleep(max(0.0, begin + (number + 1) * PIECE - time.monotonic()))
    socket.send(json.dumps({"type": "CloseStream"}))


def main(base_url: str, key: str) -> int:
    scribe = client.ScribeClient(base_url)
    transaction = scribe.transaction()
    transaction.init()
    print("espeak-ng speaks …")
    samples = speech.consultation((HERE / "consultation.txt").read_text().split("\n")[:-1])
    query = (f"encoding=linear16&sample_rate={speech.RATE}&interim_results=true&punctuate=true&endpointing=500"
             f"&txn_id={transaction.id}")
    address = f"{base_url.replace('http', 'ws', 1)}/v1/listen?{query}"
    # On a terminal, what may still change is on one line.
    back = "\r\033[K" if sys.stdout.isatty() else ""
    with connect(address, additional_headers={"Authorization": f"Token {key}"}) as socket:
        threading.Thread(target=send, args=(socket, samples), daemon=True).start()
        for text in socket:
            message = json.loads(text)
            if message["type"] != "Results":
                continue
            words = message["channel"]["alternatives"][0]["transcript"]
            if message["is_final"] and words:
                print(f"{back}{message['start']:6.1f} s  {words}", flush=True)
            elif words:
                print(f"{back}        … {words[-60:]}", end="" if back else "\n", flush=True)
    answer = transaction.poll()
    while answer.status_code == 202:
        answer = transaction.poll()
    for item in answer.json()["data"]["output"]:
        print(f"\n--- {item['name']} ({item['status']})\n{client.text(item) if item['value'] else item['errors']}")
    return 0 if answer.status_code == 200 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))

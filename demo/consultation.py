"""One consultation from speech to note: consultation.py BASE_URL"""

import pathlib
import sys
import tempfile

import client
import speech

HERE = pathlib.Path(__file__).parent


def main(base_url: str) -> int:
    sentences = (HERE / "consultation.txt").read_text().split("\n")[:-1]
    scribe = client.ScribeClient(base_url)
    s3 = scribe.s3()
    transaction = scribe.transaction()
    with tempfile.TemporaryDirectory() as folder:
        print("espeak-ng speaks, ffmpeg encodes …")
        parts = speech.chunks(speech.consultation(sentences), pathlib.Path(folder))
        print(f"init    {transaction.init().status_code}  {transaction.id}")
        for path, start, end in parts:
            transaction.upload(s3, path, start, end)
            print(f"upload  200  {path.name}  {start:5.1f} s to {end:5.1f} s, {path.stat().st_size} bytes")
    print(f"stop    {transaction.stop().status_code}")
    print(f"commit  {transaction.commit().status_code}")
    answer = transaction.poll()
    while answer.status_code == 202:
        answer = transaction.poll()
    print(f"status  {answer.status_code}")
    data = answer.json()["data"]
    for item in data["template_results"]["transcript"] + data["output"]:
        print(f"\n--- {item['name']} ({item['status']})\n{client.text(item) if item['value'] else item['errors']}")
    return 0 if answer.status_code == 200 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

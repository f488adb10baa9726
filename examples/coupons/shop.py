"""A web shop that has its coupons chosen by a Bandana server, over HTTP.

    python3 shop.py ADDRESS [--keys FOLDER] [--customers N] [--result FILE]

Customers are simulated here: this script knows how often each coupon makes a customer buy, and the server does not.
One in ten customers is never heard of again. A server that is away is asked again until it is back.
"""

import argparse
import hashlib
import http.client
import json
import pathlib
import random
import ssl
import time

BATCH = 200  # customers in one request


class Shop:
    def __init__(self, address, keys):
        self.address = address
        self.headers = {"Content-Type": "application/json"}
        self.context = None
        if keys:
            self.context = ssl.create_default_context(cafile=pathlib.Path(keys) / "ca.pem")
            self.context.check_hostname = False  # the deployment's own CA signs nothing but its servers
            key = (pathlib.Path(keys) / "application.key").read_text().strip()
            self.headers["Authorization"] = f"Bearer {key}"
        self.connection = None

    def post(self, path, body):
        """Sends a request until the server answers it. Returns None once the server has ended for good."""
        for _ in range(300):
            try:
                if self.connection is None:
                    self.connection = (
                        http.client.HTTPSConnection(self.address, context=self.context, timeout=10)
                        if self.context
                        else http.client.HTTPConnection(self.address, timeout=10)
                    )
                self.connection.request("POST", path, json.dumps(body), self.headers)
                answer = self.connection.getresponse()
                text = answer.read()
                if answer.status == 200:
                    return json.loads(text)
                if answer.status not in (429, 503):
                    raise SystemExit(f"{path}: {answer.status} {text.decode()}")
            except (OSError, http.client.HTTPException):
                self.connection = None
            if self.ended():
                return None
            time.sleep(0.1)
        raise SystemExit("the server does not answer")

    ended = staticmethod(lambda: False)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--keys", default="")
    parser.add_argument("--customers", type=int, default=50_000)
    parser.add_argument("--result", default="result.json", help="the file that the server writes at its end")
    arguments = parser.parse_args()
    truth = json.loads((pathlib.Path(__file__).parent / "truth.json").read_text())
    chance = random.Random(5)
    shop = Shop(arguments.address, arguments.keys)
    shop.ended = lambda: pathlib.Path(arguments.result).exists()
    customers = list(range(arguments.customers))  # who has not taken part yet
    visits, counted, answered = 0, 0, 0
    while customers:
        people = chance.sample(range(len(customers)), min(BATCH, len(customers)))
        subjects = [hashlib.md5(f"customer {customers[i]}".encode()).hexdigest() for i in people]
        decisions = shop.post("/v1/decide", {"subjects": subjects})
        if decisions is None:
            break  # the server has learned enough
        visits += len(subjects)
        rewards, gone = [], []
        for i, decision in zip(people, decisions):
            if not decision["counted"]:
                continue
            gone.append(i)
            buys = chance.random() < truth[decision["name"]]
            if chance.random() < 0.9:
                rewards.append({"decision": decision["decision"], "reward": int(buys)})
        counted += len(gone)
        for i in sorted(gone, reverse=True):
            customers[i] = customers[-1]
            customers.pop()
        if rewards and shop.post("/v1/rewards", rewards) is not None:
            answered += len(rewards)
        if not gone:
            time.sleep(0.05)  # the server waits for windows to end
    print(json.dumps({"visits": visits, "counted": counted, "answered": answered}))


if __name__ == "__main__":
    main()

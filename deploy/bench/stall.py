"""Says for each line that it reads how long the machine kept it from running since the last one: it sleeps a millisecond at a time."""

import json
import select
import sys
import time


def main() -> None:
    print(json.dumps({"ready": True}), flush=True)
    longest, last = 0.0, time.monotonic()
    while True:
        readable, _, _ = select.select([sys.stdin], [], [], 0.001)
        now = time.monotonic()
        longest, last = max(longest, now - last), now
        if readable:
            if not sys.stdin.readline():
                return
            print(json.dumps({"seconds": longest}), flush=True)
            longest = 0.0


if __name__ == "__main__":
    main()

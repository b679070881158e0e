"""A program that takes locks with redis.lock.Lock of redis-py. Arguments: library, port of the server, port of the referee. The lines that it
reads are those of ../program.ts."""

import random
import sys
import time

import redis
from redis.exceptions import LockError
from redis.lock import Lock

client = redis.Redis(port=int(sys.argv[2]))
referee = redis.Redis(port=int(sys.argv[3]))
holds = {}


def take(key, ttl, wait):
    lock = Lock(client, key, timeout=ttl / 1000, blocking=wait > 0, blocking_timeout=wait / 1000 if wait > 0 else None)
    return lock if lock.acquire() else None


def release(lock):
    try:
        lock.release()
    except LockError:
        pass  # it is not ours any more


def renew(lock, ttl):
    try:
        return lock.extend(ttl / 1000, replace_ttl=True)
    except LockError:
        return False


def race(key, ttl, during):
    """Sections for so long, each checked by a counter of another server."""
    served = overlaps = 0
    end = time.monotonic() + during / 1000
    while time.monotonic() < end:
        lock = take(key, ttl, during)
        if not lock:
            continue
        began = time.monotonic()
        if referee.incr(key) != 1:
            overlaps += 1
        time.sleep(0.002)
        referee.decr(key)
        release(lock)
        served += 1
        time.sleep(random.random() * 20 * (time.monotonic() - began))
    return f"{served} {overlaps}"


def answer(words):
    command, key, *numbers = words
    ms = [int(number) for number in numbers]
    mine = holds.setdefault(key, [])
    if command == "take":
        lock = take(key, *ms)
        if lock:
            mine.append(lock)
        return "yes" if lock else "no"
    if command == "renew":
        return "yes" if renew(mine[-1], *ms) else "no"
    if command == "release":
        release(mine.pop())
        return "yes"
    return race(key, *ms)


print("ready", flush=True)
for line in sys.stdin:
    try:
        print(answer(line.split()), flush=True)
    except Exception as error:
        print(f"error {error!r}", flush=True)

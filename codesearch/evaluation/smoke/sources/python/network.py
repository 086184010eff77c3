"""Requests over the network, and what surrounds them."""

import functools
import json
import os
import random
import smtplib
import socket
import threading
import time
import urllib.parse
import urllib.request
from email.message import EmailMessage


def download_file(url, target, chunk_bytes=65536):
    """Stream the content of a URL to a local file and return its size."""
    size = 0
    with urllib.request.urlopen(url, timeout=30) as response, open(target, "wb") as stream:
        while chunk := response.read(chunk_bytes):
            stream.write(chunk)
            size += len(chunk)
    return size


def upload_file(url, path, token=None):
    """Send a local file to a server with PUT."""
    with open(path, "rb") as stream:
        request = urllib.request.Request(url, data=stream.read(), method="PUT")
    request.add_header("Content-Type", "application/octet-stream")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    with urllib.request.urlopen(request) as response:
        return response.status


def fetch_json(url, params=None):
    """GET a URL and parse the body of the answer as JSON."""
    if params:
        url += "?" + urllib.parse.urlencode(params)
    request = urllib.request.Request(url, headers={"Accept": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.loads(response.read().decode("utf-8"))


def retry(attempts=3, delay=0.5, errors=(OSError,)):
    """Call a function again when it fails, waiting twice as long each time."""

    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            for attempt in range(attempts):
                try:
                    return function(*args, **kwargs)
                except errors:
                    if attempt == attempts - 1:
                        raise
                    time.sleep(delay * 2**attempt + random.random() * delay)

        return wrapper

    return decorate


def is_port_open(host, port, timeout=1.0):
    """Tell whether something listens on a TCP port."""
    try:
        with socket.create_connection((host, port), timeout=timeout):
            return True
    except OSError:
        return False


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ip_to_int(address):
    """Pack a dotted IPv4 address into one 32-bit number."""
    octets = [int(part) for part in address.split(".")]
    if len(octets) != 4 or any(octet > 255 for octet in octets):
        raise ValueError(f"bad address {address}")
    number = 0
    for octet in octets:
        number = number << 8 | octet
    return number


def int_to_ip(number):
    """Unpack a 32-bit number into dotted IPv4 notation."""
    octets = []
    for shift in (24, 16, 8, 0):
        octets.append(str(number >> shift & 0xFF))
    return ".".join(octets)


def send_mail(sender, recipients, subject, body, host="localhost"):
    """Deliver a plain text message through an SMTP server."""
    message = EmailMessage()
    message["From"] = sender
    message["To"] = ", ".join(recipients)
    message["Subject"] = subject
    message.set_content(body)
    with smtplib.SMTP(host) as server:
        server.send_message(message)


class TokenBucket:
    """Lets `rate` calls a second pass, with bursts up to `capacity`."""

    def __init__(self, rate, capacity):
        self.rate = rate
        self.capacity = capacity
        self.tokens = capacity
        self.updated = time.monotonic()

    def allow(self, cost=1):
        """Say whether a call may be made now, and count it if so."""
        now = time.monotonic()
        earned = (now - self.updated) * self.rate
        self.tokens = min(self.capacity, self.tokens + earned)
        self.updated = now
        if self.tokens < cost:
            return False
        self.tokens -= cost
        return True


class FileLock:
    """One process at a time, by a file that only one can create."""

    def __init__(self, path):
        self.path = path
        self.handle = None
        self.guard = threading.Lock()

    def acquire(self, timeout=10):
        """Wait until the lock file can be created."""
        deadline = time.monotonic() + timeout
        while self.handle is None:
            try:
                self.handle = open(self.path, "x")
            except FileExistsError:
                if time.monotonic() > deadline:
                    raise TimeoutError(self.path)
                time.sleep(0.05)

    def release(self):
        """Remove the lock file, so that another process can go on."""
        with self.guard:
            if self.handle is not None:
                self.handle.close()
                os.unlink(self.path)
                self.handle = None

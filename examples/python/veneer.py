"""A client of Veneer's control protocol, version 3. It uses Python's standard library only.

    with Agent.of(4711) as agent:                       # Unix socket, as the JVM's user or root
        agent.send("exec", name="mine", source="1 + 1")
        print(agent.receive())                          # ('done', {'value': '2'})

Each message is a JSON object on one line with one member, whose name is the kind of the message.
The module protocol/src/message.rs documents all messages.

The JVM must contain the agent: `veneer run` starts a JVM with the agent, and
`veneer exec PID -e '()'` loads the agent into a running JVM.
"""

import json
import os
import socket
import threading

PROTOCOL = 3


class Refused(Exception):
    """The agent could not execute a request. The text is the reason."""


class Ended(Exception):
    """The JVM has ended, or the agent has closed the connection."""


class Agent:
    """A connection to the agent in one JVM."""

    def __init__(self, connected):
        self._socket = connected
        self._lines = connected.makefile("rb")
        self._sending = threading.Lock()
        self._closed = threading.Event()
        self.send("hello")
        kind, body = self.receive()
        if kind != "hello" or body["protocol"] != PROTOCOL:
            raise Refused(f"the agent speaks another protocol: {body}")
        self.pid = body["pid"]
        self.version = body["version"]

    @classmethod
    def of(cls, pid):
        """Connects to the Unix socket of a JVM on this machine."""
        owner = os.stat(f"/proc/{pid}").st_uid
        connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connected.connect(f"/tmp/veneer-{owner}/{pid}.sock")
        return cls(connected)

    @classmethod
    def at(cls, host, port, token_file):
        """Connects to the control port of `veneer run --listen HOST:PORT --token-file F`."""
        with open(token_file, encoding="ascii") as file:
            token = file.read().strip()
        connected = socket.create_connection((host, port))
        connected.sendall(token.encode("ascii") + b"\n")
        return cls(connected)

    def send(self, request, **fields):
        """Sends a request. protocol/src/message.rs lists the fields of each request."""
        line = json.dumps({request: fields}).encode("utf-8") + b"\n"
        with self._sending:
            self._socket.sendall(line)

    def receive(self):
        """Waits for the next reply. Returns its kind and content; raises Refused for `failed`."""
        line = self._lines.readline()
        if not line.endswith(b"\n"):
            raise Ended("the JVM has ended, or has closed the connection")
        ((kind, body),) = json.loads(line).items()
        if kind == "failed":
            raise Refused(body["message"])
        return kind, body

    def hold(self, name, source, settings=None, seconds=10, printed=print):
        """Runs a plan and returns its value.

        The agent detaches the plan's attachments when this connection is closed, or when it has been
        silent for `seconds`. A background thread sends `renew` four times in this period. `printed`
        is called with each line that the plan prints before its top level has ended.
        """
        self.send("exec", name=name, source=source, settings=settings or {}, hold=int(seconds * 1000))
        kind, body = self.receive()
        while kind == "print":
            printed(body)
            kind, body = self.receive()
        threading.Thread(target=self._renew, args=(seconds / 4,), daemon=True).start()
        return body["value"]

    def _renew(self, period):
        while not self._closed.wait(period):
            try:
                self.send("renew")
            except OSError:
                return

    def report(self):
        """Returns the report with the current counts. docs/report.md describes its fields."""
        self.send("report")
        kind, body = self.receive()
        if kind != "report":
            raise Refused(f"the agent answered {kind}")
        return body

    def updates(self, every=1.0, events=True, instruments=()):
        """Yields an update every `every` seconds: changed counts and, if `events`, logged values."""
        self.send("subscribe", every=int(every * 1000), events=events, instruments=list(instruments))
        while True:
            kind, body = self.receive()
            if kind == "update":
                yield body

    def close(self):
        """Closes the connection. The agent then detaches the attachments that this connection held."""
        self._closed.set()
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

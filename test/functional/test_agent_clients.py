# SPDX-License-Identifier: BSD-3-Clause
"""octo-agent and those who connect to it: ports, strangers, and none of both."""

import socket
import struct
import threading

import pytest

from octotest import agent, vdevs
from octotest.agent import Agent
from octotest.fakeagent import HEADER, HELLO, PING, RESULT, WELCOME, FakeAgent, message
from octotest.testpmd import Testpmd, wait_until
from octotest.view import View

EBUSY, EACCES, ESTALE = 16, 13, 116
NOBODY = b""
SECRET = b"open sesame, open"


@pytest.fixture
def base(tmp_path):
    """Where the sockets are."""
    return tmp_path


def _agent(base, *options, wait=True) -> Agent:
    return Agent(vdevs.nic("A", wire="loop"),
                 [agent.pf(f"net_mpsim{i}", base / f"pf{i}.sock") for i in range(2)],
                 options, wait=wait)


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def _secret(base, text=SECRET + b"\n", mode=0o600, name="secret"):
    path = base / name
    path.write_bytes(text)
    path.chmod(mode)
    return path


def _hello(session=1, secret=b"") -> bytes:
    return message(HELLO, session, 1, struct.pack("!HHB3x", 1, 1, 2) + secret)


class Client:
    """Somebody who connects; waits as long for an answer as no machine needs."""

    def __init__(self, where) -> None:
        family = socket.AF_INET if isinstance(where, tuple) else socket.AF_UNIX
        self.sock = socket.socket(family, socket.SOCK_STREAM)
        self.sock.settimeout(60)
        self.sock.connect(where if isinstance(where, tuple) else str(where))

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_) -> None:
        self.sock.close()

    def say(self, said: bytes) -> None:
        """Without an answer."""
        self.sock.sendall(said)

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self.sock.recv(size - len(data))
            if not more:
                raise ConnectionResetError
            data += more
        return data

    def hear(self):
        """Kind, errno and words of the next answer."""
        _, kind, size, _, _ = HEADER.unpack(self._read(HEADER.size))
        body = self._read(size)
        return (kind, 0, b"") if kind == WELCOME else \
            (kind, struct.unpack("!I", body[:4])[0], body[4:])

    def ask(self, said: bytes):
        """With an answer."""
        self.say(said)
        return self.hear()

    def is_over(self) -> bool:
        """Reads until the agent has closed the connection."""
        try:
            while self.sock.recv(65536):
                pass
        except ConnectionError:
            pass
        return True


def test_a_client_without_hello_keeps_nobody_out(base):
    """It may ping as long as it likes: it is not the port."""
    with _agent(base, f"--listen=unix:{base}/sock"), Client(base / "sock") as idler, \
            Client(base / "sock") as port:
        for seq in range(3):
            assert idler.ask(message(PING, 1, seq))[:2] == (RESULT, ESTALE)
        assert port.ask(_hello())[0] == WELCOME
        assert idler.ask(message(PING, 1, 9))[:2] == (RESULT, ESTALE)
        assert idler.ask(_hello(2))[:2] == (RESULT, EBUSY)
        assert port.ask(message(PING, 1, 2))[:2] == (RESULT, 0)


def test_a_client_that_says_no_hello_is_hung_up_on(base):
    """It has a few seconds from its first word on; one that is silent harms nobody."""
    with _agent(base, f"--listen=unix:{base}/sock"), Client(base / "sock") as silent, \
            Client(base / "sock") as idler:
        assert idler.ask(message(PING, 1, 1))[:2] == (RESULT, ESTALE)
        assert idler.is_over()
        assert silent.ask(_hello())[0] == WELCOME


def test_many_clients_keep_nobody_out(base):
    """The oldest of those that have not said hello makes room."""
    with _agent(base, f"--listen=unix:{base}/sock"):
        crowd = [Client(base / "sock") for _ in range(12)]
        with Client(base / "sock") as port:
            assert port.ask(_hello())[0] == WELCOME
            assert crowd[0].is_over()
        for client in crowd:
            client.sock.close()


@pytest.mark.parametrize("greeted", [False, True])
def test_noise_ends_a_connection(base, greeted):
    """And others are answered meanwhile."""
    with _agent(base, f"--listen=unix:{base}/sock"), Client(base / "sock") as babbler:
        if greeted:
            assert babbler.ask(_hello())[0] == WELCOME

        def babble():
            with pytest.raises(OSError):
                while True:
                    babbler.say(b"OCTO" * 10000)
        thread = threading.Thread(target=babble)
        thread.start()
        thread.join(60)
        assert not thread.is_alive(), "it is listened to without end"
        with Client(base / "sock") as port:
            assert port.ask(_hello())[0] == WELCOME


def test_a_port_that_talks_without_end_keeps_nobody_waiting(base):
    """Others are told that it is there, and it is served on."""
    stop = threading.Event()
    with _agent(base, f"--listen=unix:{base}/sock"), Client(base / "sock") as port:
        assert port.ask(_hello())[0] == WELCOME

        def talk():
            while not stop.is_set():
                port.say(message(PING, 1, 2) * 100)
                for _ in range(100):
                    assert port.hear()[:2] == (RESULT, 0)
        thread = threading.Thread(target=talk)
        thread.start()
        for _ in range(10):
            with Client(base / "sock") as other:
                assert other.ask(_hello(2))[:2] == (RESULT, EBUSY)
        stop.set()
        thread.join()
        assert port.ask(message(PING, 1, 3))[:2] == (RESULT, 0)


@pytest.mark.parametrize("said, words", [
    (b"", b"it wants a secret, which agent_secret= gives"),
    (b"open sesame, openX", b"its secret is another one"),
    (b"open sesame, ope", b"its secret is another one"),
])
def test_a_secret_keeps_others_out(base, said, words):
    """They learn nothing else, and do not become the port."""
    with _agent(base, f"--listen=unix:{base}/sock", f"--secret={_secret(base)}"):
        with Client(base / "sock") as other:
            assert other.ask(_hello(1, said)) == (RESULT, EACCES, words)
            assert other.ask(message(PING, 1, 2))[:2] == (RESULT, ESTALE)
            with Client(base / "sock") as port:
                assert port.ask(_hello(2, SECRET))[0] == WELCOME
                assert other.ask(_hello(3, said)) == (RESULT, EACCES, words)
                # nor does the port itself, if it forgets
                assert port.ask(_hello(4, said)) == (RESULT, EACCES, words)
                assert port.ask(message(PING, 2, 2))[:2] == (RESULT, ESTALE)


def _port(address, secret=None) -> Testpmd:
    more = {} if secret is None else {"agent_secret": secret}
    return Testpmd([*vdevs.nic("B", wire="loop"), vdevs.octo(agent=address, **more)],
                   ["--auto-start", "--forward-mode=rxonly"])


def test_a_port_and_its_agent_share_a_secret(base):
    """By TCP, which needs one."""
    address = f"tcp:127.0.0.1:{_free_port()}"
    secret = _secret(base)
    with _agent(base, f"--listen={address}", f"--secret={secret}"), _port(address, secret) as pmd:
        assert View(pmd).topology()["tier"] == "exact"


def test_a_port_without_the_secret_is_told_so(base):
    """In its own words: which devarg is missing."""
    with _agent(base, f"--listen=unix:{base}/sock", f"--secret={_secret(base)}"), \
            _port(f"unix:{base}/sock") as pmd:
        pmd.wait_until("it is refused", lambda: "is away: it wants a secret, which agent_secret= "
                       "gives" in pmd.text)
        assert View(pmd).topology()["tier"] == "queue"


def test_the_secret_is_said_without_its_newline(base):
    """And only in hello, to an agent that does not want it, too."""
    with FakeAgent(base / "sock") as fake, _port(f"unix:{base}/sock", _secret(base)):
        wait_until("it is greeted", lambda: fake.sessions == 1)
        assert fake.secret == SECRET


SECRETS = {
    "missing": (None, 0o600, "No such file or directory"),
    "short": (b"0123456789abcde\n", 0o600, "a secret of 16 to 64 bytes is expected in it"),
    "open": (SECRET, 0o644, "chmod 600 is needed"),
}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_bad_secret_is_refused(base, kind):
    """One error on either side, and nothing is left."""
    text, mode, words = SECRETS[kind]
    path = base / "secret" if text is None else _secret(base, text, mode)
    firmware = _agent(base, f"--listen=unix:{base}/sock", f"--secret={path}", wait=False)
    assert firmware.wait(30) != 0
    assert f"octo-agent: --secret {path}: " in firmware.text and words in firmware.text
    assert not (base / "sock").exists()
    with _port(f"unix:{base}/sock", path) as pmd:
        assert f"net_octo0: agent_secret={path}: " in pmd.boot_text and words in pmd.boot_text
        assert "net_octo0" not in [p.name for p in pmd.ports()]


def test_a_secret_needs_an_agent(base):
    """Else it would be for nobody."""
    with Testpmd([*vdevs.nic("B", wire="loop"), vdevs.octo(agent_secret=_secret(base))]) as pmd:
        assert "agent= is needed with it" in pmd.boot_text


def test_tcp_without_a_secret_must_be_asked_for(base):
    """Every user of the machine could steer."""
    port = _free_port()
    firmware = _agent(base, f"--listen=tcp:127.0.0.1:{port}", wait=False)
    assert firmware.wait(30) != 0
    assert "every user who reaches it could steer: give --secret FILE, or say --no-secret" \
        in firmware.text
    with _agent(base, f"--listen=tcp:127.0.0.1:{port}", "--no-secret"), \
            Client(("127.0.0.1", port)) as client:
        assert client.ask(_hello())[0] == WELCOME

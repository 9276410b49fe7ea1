"""terminal.py: a tarn on a pseudo terminal, and the claims that are made about it.

Needs Python's standard library alone, and TARN and SCRATCH set. A test starts a program,
types, and waits for what must appear; nothing sleeps longer than it takes. Its file ends
with finish(), which runs all claims and writes TAP."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

PATIENCE = 20  # seconds until something that must appear has not


class Terminal:
    """A tarn on a terminal of its own; `screen` is all it has written, without escapes."""

    def __init__(self, *arguments, columns=80, **variables):
        self.begin(os.environ["TARN"], arguments, columns, variables)
        self.wait("^D leaves")
        self.wait("> ")

    def begin(self, program, arguments, columns, variables):
        env = {"PATH": os.environ["PATH"], "HOME": os.environ["SCRATCH"], "TERM": "xterm",
               "LC_ALL": "C.UTF-8", "INPUTRC": "/dev/null", "PAGER": "cat"}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                env[name] = os.environ[name]
        env.update(variables)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(program, [program, *arguments], env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        self.raw = ""
        self.seen = 0

    @property
    def screen(self):
        text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.raw)
        return re.sub(r"[\r\a]", "", text)

    def read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.raw += data.decode("utf-8", "replace")
        return bool(data)

    def wait(self, text):
        """Waits until text appears after what was waited for last."""
        end = time.monotonic() + PATIENCE
        while True:
            at = self.screen.find(text, self.seen)
            if at >= 0:
                self.seen = at + len(text)
                return
            if time.monotonic() > end or not self.read(0.1) and self.gone():
                raise AssertionError(f"{text!r} does not appear in:\n{self.screen[-2000:]}")

    def gone(self):
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def enter(self, line, answer=None):
        """Types a line; waits for its echo, then for the answer and the next prompt."""
        self.type(line + "\r")
        self.wait(line[-20:])
        self.wait("\n")
        if answer is not None:
            self.wait(answer)
        self.wait("> ")

    def run(self, keys, answer=""):
        """Types keys whose echo is another text, and Enter; waits for answer and prompt."""
        self.type(keys + "\r")
        self.wait("\n" + answer)
        self.wait("> ")

    def interrupt(self):
        os.kill(self.pid, signal.SIGINT)

    def drop_line(self):
        """Interrupts once all that was typed has been answered; waits for the prompt."""
        while self.read(0.2):
            pass
        self.seen = len(self.screen)
        self.interrupt()
        self.wait("\n> ")

    def leave(self):
        """Leaves with ^D and gives the exit status."""
        self.type("\x04")
        return self.status()

    def status(self):
        end = time.monotonic() + PATIENCE
        while not self.gone():
            self.read(0.05)
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def end_in_peace(self):
        """A program that is killed does not write what it has counted."""
        end = time.monotonic() + 2
        while not self.gone() and time.monotonic() < end:
            self.type("\x15\x04")
            self.read(0.2)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            if "TARN_COUNTED" in os.environ:
                self.end_in_peace()
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        os.close(self.fd)


# ---- claims: each is a function whose docstring says it ---------------------------------

tests = []


def claim(function):
    tests.append(function)
    return function


def has_readline():
    return "Readline" in os.popen(f"'{os.environ['TARN']}' --version").read()


def readline_claim(function):
    def run():
        if not has_readline():
            raise NotImplementedError("built without Readline")
        function()
    run.__doc__ = function.__doc__
    tests.append(run)


def failed_line(error, file):
    """The last line of the file of claims that the error came through."""
    line, frame = "?", error.__traceback__
    while frame:
        if frame.tb_frame.f_code.co_filename == file:
            line = frame.tb_lineno
        frame = frame.tb_next
    return line


def finish(file):
    """Runs the claims of a file."""
    for number, test in enumerate(tests, 1):
        try:
            test()
            print(f"ok {number} - {test.__doc__}", flush=True)
        except NotImplementedError as reason:
            print(f"ok {number} - {test.__doc__} # SKIP {reason}", flush=True)
        except (AssertionError, OSError) as error:
            print(f"not ok {number} - {test.__doc__}")
            text = f"line {failed_line(error, file)}: {error}"
            print("# " + text.replace("\n", "\n# "), flush=True)
    print(f"1..{len(tests)}")

"""Runs functions in processes that are forked from this one, so that independent steps use several processors."""

import ctypes
import functools
import marshal
import os
import signal

# Maximum number of pixels of an image that one process has in memory while another one works.
MAX_FORKED_PIXELS = 16_000_000
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def in_background(function):
    """Returns a function that returns the result: of a process that starts now, or, without an idle processor, of a later call.

    On a busy machine a process costs its start and waits for its turns.
    """
    return forked(function) if has_idle_processor() else functools.cache(function)


def has_idle_processor() -> bool:
    """Returns whether the processes that are ready to run, this one among them, are no more than the processors."""
    processors = len(os.sched_getaffinity(0))
    try:
        with open("/proc/loadavg") as file:
            ready = int(file.read().split()[3].split("/")[0])
    except (OSError, ValueError, IndexError):
        return False
    return processors > 1 and ready <= processors


def forked(function):
    """Starts a function in a process of its own. Returns a function that waits for its result and returns it.

    The result consists of None, numbers, text, bytes, lists, tuples and dictionaries. Where the process fails, the
    function runs in this one instead, so that errors are raised here.
    """
    reader, writer = os.pipe()
    try:
        pid = os.fork()
    except OSError:
        os.close(reader)
        os.close(writer)
        return functools.cache(function)
    if pid == 0:
        run_forked(function, writer)
    os.close(writer)

    def wait():
        with open(reader, "rb") as pipe:
            data = pipe.read()
        code = os.waitpid(pid, 0)[1]
        return marshal.loads(data) if code == 0 else function()

    return functools.cache(wait)


def end_with_parent() -> None:
    """Has the system end this process with the one that forked it."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def run_forked(function, writer: int) -> None:
    code = 1
    try:
        end_with_parent()
        with open(writer, "wb") as pipe:
            pipe.write(marshal.dumps(function()))
        code = 0
    finally:
        os._exit(code)

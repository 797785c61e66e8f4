"""Attempts what an engine process must not be able to do, and what it must, and prints the failures as one JSON object.

    python3 -I -S isolation-trial.py SECRET SOCKET PORT OWNER NODE FILE...

    SECRET  file outside of the working directory      PORT   TCP port of 127.0.0.1 that listens
    SOCKET  socket file that listens                   OWNER  process id of the owner
    NODE    program that has to start                  FILE   has to be readable
"""
import ctypes
import errno
import json
import os
import socket
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
PR_GET_NO_NEW_PRIVS = 39
CAPABILITY_VERSION_3 = 0x20080522


def main(secret, unix_socket, port, owner, node, *files):
    hostile = {
        "it can read files outside of its folder": lambda: read(secret),
        "it can open network connections": lambda: connect(socket.AF_INET, ("127.0.0.1", int(port))),
        "it can connect to unix sockets": lambda: connect_from_folder(unix_socket),
        "it can read the environment of its owner": lambda: read_environment(owner),
    }
    broken = [sentence for sentence, attempt in hostile.items() if succeeds(attempt)]
    # bubblewrap lets it write there, into private memory: the owner checks the real folder afterwards.
    succeeds(lambda: write(secret + ".written"))
    if has_capabilities():
        broken.append("it has capabilities")
    if LIBC.prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1:
        broken.append("it can gain privileges")
    needed = {
        "it cannot write into its folder": lambda: write("written"),
        **{f"it cannot read {file}": lambda file=file: read(file) for file in files},
        f"it cannot run {node}": lambda: run([node, "--version"]),
    }
    broken += [sentence for sentence, attempt in needed.items() if not succeeds(attempt)]
    print(json.dumps({"broken": broken}))


def succeeds(attempt):
    try:
        attempt()
    except OSError:
        return False
    return True


def run(command):
    """Starts the program without output. Raises OSError when it does not start or ends with another code than 0."""
    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=silent)
    if os.waitpid(pid, 0)[1] != 0:
        raise OSError(errno.ENOEXEC, "it ended with a failure")


def read(path):
    with open(path, "rb") as file:
        file.read(1)


def write(path):
    with open(path, "wb") as file:
        file.write(b"written")


def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(5)
        client.connect(address)


def connect_from_folder(path):
    """Connects from the socket's folder, because a socket's address has at most 107 bytes."""
    here = os.getcwd()
    os.chdir(os.path.dirname(path))
    try:
        connect(socket.AF_UNIX, os.path.basename(path))
    finally:
        os.chdir(here)


def read_environment(owner):
    """Reads the owner's environment. Raises OSError when that is its own: a process namespace has other process ids."""
    with open(f"/proc/{owner}/environ", "rb") as theirs, open("/proc/self/environ", "rb") as own:
        if theirs.read() == own.read():
            raise OSError(errno.ENOENT, "its own")


def has_capabilities():
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)()
    LIBC.capget(ctypes.byref(header), ctypes.byref(sets))
    effective, permitted = sets[0] | sets[3], sets[1] | sets[4]
    return bool(effective | permitted)


main(*sys.argv[1:])

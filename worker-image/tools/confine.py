"""Confines this process irrevocably and executes the command: starts an engine process where bubblewrap cannot.

    python3 -I -S confine.py OPTION... -- COMMAND ARGUMENT...

    --read PATH      files that it may read and execute, PATH or what is below; skipped when missing
    --write PATH     folder whose files it may read, make and change
    --device PATH    device that it may read and write
    --seccomp FD     filter program, read from an inherited descriptor
    --lenient        continues where the kernel lacks Landlock or seccomp

Applies no-new-privileges, no capabilities, Landlock and seccomp, in this order. Exits with 125 and one sentence
when the kernel refuses one of them.
"""
import ctypes
import os
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
FAILED = 125

PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 22, 24, 38, 47
SECCOMP_MODE_FILTER, PR_CAP_AMBIENT_CLEAR_ALL = 2, 4
CAPABILITY_VERSION_3 = 0x20080522
# The same number on every processor.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
RULESET_VERSION, RULE_PATH_BENEATH = 1, 1
# Access rights by linux/landlock.h.
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
MAKE_CHAR, MAKE_BLOCK = 1 << 6, 1 << 11
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
# Number of rights in each version, from the first one on. Version 1 cannot move a file between folders.
RIGHTS_OF_VERSION = (13, 14, 15, 15, 16)
OLDEST_VERSION = 2
TCP, SCOPES = 0b11, 0b11
TCP_VERSION, SCOPES_VERSION = 4, 6


class Refused(Exception):
    pass


def main(arguments):
    at = arguments.index("--")
    options, command = arguments[:at], arguments[at + 1 :]
    lenient = "--lenient" in options
    paths = {"--read": [], "--write": [], "--device": [], "--seccomp": []}
    for name, value in zip(options, options[1:]):
        if name in paths:
            paths[name].append(value)
    filters = [read_filter(int(value)) for value in paths["--seccomp"]]
    call("no new privileges", LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    drop_capabilities()
    for confine in [lambda: restrict_files(paths), *(lambda f=one: install(f) for one in filters)]:
        try:
            confine()
        except Refused:
            if not lenient:
                raise
    os.execvp(command[0], command)


def call(what, result):
    if result < 0:
        raise Refused(f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def read_filter(descriptor):
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def drop_capabilities():
    """Drops the capabilities of the process, and from the bounding set those that root regains with a new program."""
    capability = 0
    while LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    LIBC.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    call("capabilities", LIBC.capset(ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)())))


def restrict_files(paths):
    version = call("Landlock", LIBC.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), RULESET_VERSION))
    if version < OLDEST_VERSION:
        raise Refused(f"Landlock: version {version} of the kernel, {OLDEST_VERSION} is needed")
    rights = (1 << RIGHTS_OF_VERSION[min(version, len(RIGHTS_OF_VERSION)) - 1]) - 1
    handled = [rights]
    if version >= TCP_VERSION:
        handled.append(TCP)
    if version >= SCOPES_VERSION:
        handled.append(SCOPES)
    attributes = (ctypes.c_uint64 * len(handled))(*handled)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    ruleset = call("Landlock", LIBC.syscall(CREATE_RULESET, ctypes.byref(attributes), size, 0))
    for path in paths["--read"]:
        allow(ruleset, path, EXECUTE | READ_FILE | READ_DIR)
    for path in paths["--write"]:
        # The process must not execute files that it wrote, nor create devices.
        allow(ruleset, path, rights & ~(EXECUTE | MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV))
    for path in paths["--device"]:
        allow(ruleset, path, READ_FILE | WRITE_FILE)
    call("Landlock", LIBC.syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def allow(ruleset, path, rights):
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):
        rights &= FILE_RIGHTS
    rule = rights.to_bytes(8, sys.byteorder) + descriptor.to_bytes(4, sys.byteorder)
    call("Landlock", LIBC.syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, rule, 0))
    os.close(descriptor)


class Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def install(instructions):
    program = Program(len(instructions) // 8, instructions)
    call("seccomp", LIBC.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0))


try:
    main(sys.argv[1:])
except (Refused, OSError) as error:
    print(f"confine: {error}", file=sys.stderr)
    sys.exit(FAILED)

"""Acts as hostile code in an engine process: tries each attempt in a separate process and prints one JSON object with
the name of each attempt and "done" or the reason of its failure.

    python3 attempts-of-a-child.py TARGETS   (JSON: paths, ports and process ids of the machine)
    python3 attempts-of-a-child.py          prints the names of the attempts
"""
import ctypes
import errno
import fcntl
import json
import os
import platform
import signal
import socket
import stat
import sys

TARGETS = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
OWNER = TARGETS.get("owner")
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
X64 = platform.machine() == "x86_64"
# Numbers on x86_64 and aarch64.
SYSCALLS = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "init_module": (175, 105), "bpf": (321, 280),
    "perf_event_open": (298, 241), "keyctl": (250, 219), "add_key": (248, 217), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "kexec_load": (246, 104), "open_by_handle_at": (304, 265), "mount": (165, 40),
    "unshare": (272, 97), "clone": (56, 220), "clone3": (435, 435), "pivot_root": (155, 41), "shmget": (29, 194),
    "personality": (135, 92), "tgkill": (234, 131), "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438), "prlimit64": (302, 261), "setns": (308, 268), "fsopen": (430, 430),
    "open_tree": (428, 428), "mq_open": (240, 180), "setxattr": (188, 5), "openat2": (437, 437),
    "inotify_init1": (294, 26), "sethostname": (170, 161), "future": (600, 600), "syslog": (103, 116),
    "memfd_create": (319, 279), "ioprio_set": (251, 30),
}
CLONE_NEWUSER = 0x10000000
# Errors of the kernel about arguments: the call itself was permitted.
PERMITTED_ERRORS = (errno.EFAULT, errno.EINVAL, errno.EBADF)


def call(name, *arguments):
    """Makes a system call by its number."""
    number = SYSCALLS[name][0 if X64 else 1]
    result = LIBC.syscall(number, *(argument if isinstance(argument, bytes) else ctypes.c_long(argument) for argument in arguments))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def read(path):
    with open(path, "rb") as file:
        file.read(1)


def list_service():
    """Lists the folder of the service. A process may see the otherwise empty folder that contains its home."""
    if os.listdir(os.path.dirname(TARGETS["secret"])) == ["home"]:
        raise OSError("its own alone")


def open_to_write(path):
    os.close(os.open(path, os.O_WRONLY | os.O_APPEND))


def make(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def connect(family, kind, address):
    with socket.socket(family, kind) as client:
        client.settimeout(5)
        client.connect(address)


def send_udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(b"x", ("127.0.0.1", TARGETS["port"]))


def listen_abstract():
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind("\0attempts-of-a-child")
        server.listen()
        if not server.getsockname():
            raise OSError("not bound")


def listen_tcp():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as server:
        server.bind(("127.0.0.1", 0))
        server.listen()


def connect_from_folder():
    os.chdir(os.path.dirname(TARGETS["socket"]))
    connect(socket.AF_UNIX, socket.SOCK_STREAM, os.path.basename(TARGETS["socket"]))


def send_to_socket_file():
    """Sends with a datagram socket, which needs no connection."""
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"x", TARGETS["socket"])


def environment_of(pid):
    """Reads the environment of a process. In a process namespace the id may be the caller's own."""
    with open(f"/proc/{pid}/environ", "rb") as theirs, open("/proc/self/environ", "rb") as own:
        if theirs.read() == own.read():
            raise OSError("its own")


def signal_owner(send):
    """Runs an attempt on the owner. In a process namespace the id of the owner may be the caller's own."""
    if OWNER in (os.getpid(), os.getppid(), 1):
        raise OSError("its own")
    send()


def escape_by_folder():
    folder = os.open(".", os.O_PATH)
    read(f"/proc/self/fd/{folder}/../secret")


def escape_by_parents():
    os.chdir("..")
    read("secret")


def escape_by_root():
    root = os.open("/", os.O_PATH | os.O_DIRECTORY)
    os.close(os.open(TARGETS["secret"].lstrip("/"), os.O_RDONLY, dir_fd=root))


def escape_by_link():
    os.symlink(TARGETS["secret"], "link")
    try:
        read("link")
    finally:
        os.unlink("link")


def hard_link():
    os.link(TARGETS["secret"], "hard")
    read("hard")


def set_user_id_at_creation():
    os.umask(0)
    made = os.open("setuid", os.O_WRONLY | os.O_CREAT, 0o4755)
    if not os.fstat(made).st_mode & stat.S_ISUID:
        raise OSError("without the bit")


def set_user_id_later(change):
    make(f"later-{os.getpid()}")
    change(f"later-{os.getpid()}")


def new_namespace_by_clone():
    if call("clone", CLONE_NEWUSER | signal.SIGCHLD, 0, 0, 0, 0) == 0:
        os._exit(0)


def terminal_input():
    main, terminal = os.openpty()
    fcntl.ioctl(terminal, 0x5412, b"x")


def by_other_numbers():
    """Opens a socket by the x32 convention of x86_64, which has other numbers for the same calls."""
    if not X64:
        raise OSError("only on x86_64")
    result = LIBC.syscall(ctypes.c_long(0x40000000 + 41), socket.AF_INET, socket.SOCK_STREAM, 0)
    if result < 0:
        raise OSError(ctypes.get_errno(), "x32")


ATTEMPTS = {
    # Files.
    "read the passwords of the machine": lambda: read("/etc/shadow"),
    "read the secrets of the service": lambda: read(TARGETS["secret"]),
    "list the folder of the service": list_service,
    "list another tenant's folder": lambda: os.listdir(TARGETS["tenant"]),
    "read another tenant's file": lambda: read(os.path.join(TARGETS["tenant"], "file")),
    "read a secret by a symbolic link": escape_by_link,
    "read a secret by a hard link": hard_link,
    "read a secret by the parent of its folder": escape_by_parents,
    "read a secret by the descriptor of its folder": escape_by_folder,
    "read a secret by the descriptor of the root directory": escape_by_root,
    "open a file by its handle": lambda: call("open_by_handle_at", -100, b"\0" * 128, 0),
    "write outside of its folder": lambda: make(TARGETS["secret"] + ".new"),
    "write into another tenant's folder": lambda: make(os.path.join(TARGETS["tenant"], "new")),
    "overwrite a secret": lambda: open_to_write(TARGETS["secret"]),
    "empty a secret": lambda: os.truncate(TARGETS["secret"], 0),
    "remove a secret": lambda: os.unlink(TARGETS["secret"] + ".remove"),
    "rename a secret": lambda: os.rename(TARGETS["secret"] + ".rename", "renamed"),
    "open a secret to everybody": lambda: os.chmod(TARGETS["secret"], 0o666),
    "give a secret another owner": lambda: os.chown(TARGETS["secret"], os.getuid(), os.getgid()),
    "put an attribute on a secret": lambda: call("setxattr", TARGETS["secret"].encode(), b"user.x", b"x", 1, 0),
    "change the engine's code": lambda: open_to_write(TARGETS["code"]),
    "add to the engine's code": lambda: make(os.path.join(os.path.dirname(TARGETS["code"]), "added.ts")),
    "change a program of the system": lambda: open_to_write("/usr/bin/env"),
    "create a set-user-id file": set_user_id_at_creation,
    "make a file set-user-id by chmod": lambda: set_user_id_later(lambda path: os.chmod(path, 0o4755)),
    "make a file set-user-id by fchmod": lambda: set_user_id_later(lambda path: os.fchmod(os.open(path, os.O_RDONLY), 0o4755)),
    "make a file beside the devices": lambda: make("/dev/mediajobs-attempt"),
    "make a device": lambda: os.mknod("device", stat.S_IFBLK | 0o600, os.makedev(8, 0)),
    "change a setting of the kernel": lambda: open_to_write("/proc/sys/kernel/core_pattern"),
    "watch files": lambda: call("inotify_init1", 0),
    # Network and sockets.
    "connect to a TCP port of the machine": lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", TARGETS["port"])),
    "connect by IPv6": lambda: connect(socket.AF_INET6, socket.SOCK_STREAM, ("::1", TARGETS["port"])),
    "send a UDP datagram": send_udp,
    "listen on a TCP port": listen_tcp,
    "listen on an abstract socket": listen_abstract,
    "open a raw socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1),
    "open a netlink socket": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0),
    "open a socket of virtual machines": lambda: socket.socket(40, socket.SOCK_STREAM),
    "connect to the socket file of a database": lambda: connect_from_folder(),
    "send a datagram to a socket file": send_to_socket_file,
    "connect to an abstract socket": lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + TARGETS["abstract"]),
    "open a socket by the numbers of another convention": by_other_numbers,
    # Other processes.
    "read the environment of its owner": lambda: environment_of(OWNER),
    "read the environment of process 1": lambda: environment_of(1),
    "read the memory of its owner": lambda: signal_owner(lambda: read(f"/proc/{OWNER}/mem")),
    "list the open files of its owner": lambda: signal_owner(lambda: os.listdir(f"/proc/{OWNER}/fd")),
    "signal its owner": lambda: signal_owner(lambda: os.kill(OWNER, 0)),
    "signal a thread of its owner": lambda: signal_owner(lambda: call("tgkill", OWNER, OWNER, 0)),
    "signal its owner by a descriptor": lambda: signal_owner(lambda: call("pidfd_send_signal", call("pidfd_open", OWNER, 0), 0, 0, 0)),
    "take a descriptor of its owner": lambda: signal_owner(lambda: call("pidfd_getfd", call("pidfd_open", OWNER, 0), 0, 0)),
    "trace its owner": lambda: signal_owner(lambda: call("ptrace", 16, OWNER, 0, 0)),
    "read its owner's memory by a system call": lambda: signal_owner(lambda: call("process_vm_readv", OWNER, 0, 0, 0, 0, 0)),
    "set a limit of its owner": lambda: signal_owner(lambda: call("prlimit64", OWNER, 7, 0, 0)),
    "slow its owner down": lambda: signal_owner(lambda: os.setpriority(os.PRIO_PROCESS, OWNER, 19)),
    "slow all processes of its user down": lambda: os.setpriority(os.PRIO_USER, 0, os.getpriority(os.PRIO_USER, 0)),
    "slow all processes of its group down": lambda: os.setpriority(os.PRIO_PGRP, 0, os.getpriority(os.PRIO_PGRP, 0)),
    "change the disk priority of all processes of its user": lambda: call("ioprio_set", 3, 0, 2 << 13 | 4),
    "enter a namespace of its owner": lambda: call("setns", os.open(f"/proc/{OWNER}/ns/net", os.O_RDONLY), 0),
    "make a file in memory": lambda: call("memfd_create", b"x", 0),
    "share memory by its user id": lambda: call("shmget", 0x6D656469, 4096, 0o1600),
    "open a message queue": lambda: call("mq_open", b"mediajobs", os.O_RDWR | os.O_CREAT, 0o600, 0),
    # Privileges and the kernel.
    "become root": lambda: os.setresuid(0, 0, 0),
    "become another user": lambda: os.setresuid(12345, 12345, 12345),
    "change its groups": lambda: os.setgroups([0]),
    "mount a file system": lambda: call("mount", b"none", b".", b"tmpfs", 0, 0),
    "open a file system": lambda: call("fsopen", b"tmpfs", 0),
    "copy the mounts": lambda: call("open_tree", -100, b"/", 1),
    "change its root directory": lambda: os.chroot("."),
    "exchange the root directory": lambda: call("pivot_root", b".", b"."),
    "make a user namespace": lambda: call("unshare", CLONE_NEWUSER),
    "make a user namespace by clone": new_namespace_by_clone,
    "make a process by the call that the filter cannot read": lambda: call("clone3", 0, 0),
    "load a kernel module": lambda: call("init_module", 0, 0, b""),
    "load a new kernel": lambda: call("kexec_load", 0, 0, 0, 0),
    "load a BPF program": lambda: call("bpf", 0, 0, 0),
    "measure the processor": lambda: call("perf_event_open", b"\0" * 128, 0, -1, -1, 0),
    "read the log of the kernel": lambda: call("syslog", 3, b"\0" * 128, 100),
    "handle page faults": lambda: call("userfaultfd", 1),
    "make system calls by a ring": lambda: call("io_uring_setup", 1, b"\0" * 128),
    "read the keys of the user": lambda: call("keyctl", 0, -4, 1),
    "add a key": lambda: call("add_key", b"user", b"x", b"x", 1, -4),
    "disable the randomization of addresses": lambda: call("personality", 0x0040000),
    "rename the machine": lambda: call("sethostname", b"x", 1),
    "put input into a terminal": terminal_input,
    "open a file by the call that the filter cannot read": lambda: call("openat2", -100, b".", b"\0" * 24, 24),
}


def outcome(attempt):
    """Runs an attempt in a child process and returns the outcome that it writes to a pipe."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        try:
            attempt()
            result = "done"
        except OSError as error:
            result = f"{'refused' if error.errno not in PERMITTED_ERRORS else 'let in'}: {error}"
        os.write(writer, result.encode())
        os._exit(0)
    os.close(writer)
    result = os.read(reader, 1000).decode()
    os.close(reader)
    os.wait()
    return result or "killed"


if TARGETS:
    chosen = TARGETS["only"] or ATTEMPTS
    print(json.dumps({name: outcome(ATTEMPTS[name]) for name in chosen}))
else:
    print(json.dumps(list(ATTEMPTS)))

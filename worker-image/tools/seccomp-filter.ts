/**
 * Seccomp filter (classic BPF) that refuses system calls of an engine process and its tools: those that reach other
 * processes, the network, rarely used parts of the kernel, or another identity. Calls that are newer than the table
 * fail as if the kernel lacked them.
 */
import { constants as files } from 'node:fs';
import { constants } from 'node:os';
import {
  NEWEST_SYSCALL,
  syscallTable,
  type SyscallName,
  type SyscallTable,
} from '#worker-image/tools/syscall-numbers.ts';

/** One condition on the low 32 bits of an argument: `(argument & mask)` is, or is not, the value. */
interface Condition {
  readonly argument: number;
  readonly mask?: number;
  readonly is?: number;
  readonly isNot?: number;
}

/** A call refused with an error number where all conditions of one of the clauses hold. */
interface ConditionalRule {
  readonly calls: readonly SyscallName[];
  readonly errno: number;
  readonly clauses: readonly (readonly Condition[])[];
}

const { O_CREAT } = files;
const { EPERM, EACCES, ENOSYS, EOPNOTSUPP } = constants.errno;

/** Calls refused with any arguments, by error number; 0: the call does nothing and seems to succeed. */
const REFUSED: readonly (readonly [errno: number, calls: readonly SyscallName[]])[] = [
  // glibc then uses the older call, whose flags the filter can read.
  [ENOSYS, ['clone3', 'openat2', 'file_setattr', 'setxattrat', 'removexattrat']],
  // PostgreSQL and Redis may listen on socket files.
  [EACCES, ['connect']],
  // LibreOffice listens in /tmp for a second start of itself and ends when that fails.
  [0, ['bind', 'listen']],
  // Landlock does not control them, and with the owner's user id they reach the owner's files.
  [EACCES, ['truncate']],
  [EPERM, ['chmod', 'fchmodat', 'fchmodat2', 'chown', 'lchown', 'fchown', 'fchownat', 'mknod', 'mknodat']],
  [EOPNOTSUPP, ['setxattr', 'lsetxattr', 'fsetxattr', 'removexattr', 'lremovexattr', 'fremovexattr']],
  [EPERM, ['open_by_handle_at', 'name_to_handle_at', 'fanotify_init', 'fanotify_mark']],
  [EPERM, ['inotify_init', 'inotify_init1', 'inotify_add_watch']],
  // Other processes.
  [EPERM, ['ptrace', 'process_vm_readv', 'process_vm_writev', 'process_madvise', 'process_mrelease', 'kcmp']],
  [EPERM, ['pidfd_getfd', 'pidfd_send_signal', 'rt_sigqueueinfo', 'rt_tgsigqueueinfo', 'tkill']],
  [EPERM, ['migrate_pages', 'move_pages']],
  // Files in memory that count for no process.
  [ENOSYS, ['memfd_create', 'memfd_secret']],
  // Memory and messages shared by user id.
  [EPERM, ['shmget', 'shmat', 'shmctl', 'shmdt', 'semget', 'semctl', 'semop', 'semtimedop']],
  [EPERM, ['msgget', 'msgctl', 'msgsnd', 'msgrcv']],
  [EPERM, ['mq_open', 'mq_unlink', 'mq_notify', 'mq_getsetattr', 'mq_timedsend', 'mq_timedreceive']],
  // Identity, keys and namespaces.
  [EPERM, ['setuid', 'setgid', 'setreuid', 'setregid', 'setresuid', 'setresgid', 'setfsuid', 'setfsgid']],
  [EPERM, ['setgroups', 'add_key', 'request_key', 'keyctl', 'unshare', 'setns', 'chroot', 'pivot_root']],
  [EPERM, ['mount', 'umount2', 'move_mount', 'open_tree', 'open_tree_attr', 'fsopen', 'fsconfig', 'fsmount', 'fspick']],
  [EPERM, ['mount_setattr', 'statmount', 'listmount', 'quotactl', 'quotactl_fd', 'swapon', 'swapoff', 'acct']],
  // Parts of the kernel that no tool needs.
  [
    EPERM,
    ['bpf', 'perf_event_open', 'userfaultfd', 'io_uring_setup', 'io_uring_enter', 'io_uring_register', 'io_setup'],
  ],
  [EPERM, ['init_module', 'finit_module', 'delete_module', 'kexec_load', 'kexec_file_load', 'reboot', 'uselib']],
  [EPERM, ['settimeofday', 'clock_settime', 'adjtimex', 'clock_adjtime', 'sethostname', 'setdomainname']],
  [EPERM, ['syslog', 'iopl', 'ioperm', 'modify_ldt', 'vhangup', 'lookup_dcookie']],
];

const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_TYPE_MASK = 0xf;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NAMESPACES = [0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000];
/** Bits of a file's mode: set user id and set group id. */
const SET_ID = [0o4000, 0o2000];
/** ioctl: TIOCSTI and TIOCLINUX put input into a terminal. */
const TERMINAL_INPUT = [0x5412, 0x541c];
/** fcntl: F_SETOWN and F_SETOWN_EX choose who gets a signal. */
const SIGNAL_OWNER = [8, 15];
/** Argument of personality(2) that reads the value without changing it. */
const CURRENT_PERSONALITY = 0xffff_ffff;

/** Rules for calls that some arguments make harmful. Each call is in one rule. */
const CONDITIONAL: readonly ConditionalRule[] = [
  rule(['socket', 'socketpair'], EACCES, [
    [{ argument: 0, isNot: AF_UNIX }],
    [{ argument: 1, mask: SOCK_TYPE_MASK, isNot: SOCK_STREAM }],
  ]),
  rule(['clone'], EPERM, bitsOf(0, NAMESPACES)),
  rule(['personality'], EPERM, [
    [
      { argument: 0, isNot: 0 },
      { argument: 0, isNot: CURRENT_PERSONALITY },
    ],
  ]),
  // 0 is the caller itself.
  rule(['prlimit64', 'sched_setaffinity', 'sched_setattr', 'sched_setparam', 'sched_setscheduler'], EPERM, [
    [{ argument: 0, isNot: 0 }],
  ]),
  // Of this process (PRIO_PROCESS, IOPRIO_WHO_PROCESS) only: 0 names all processes of its group or user, too.
  rule(['setpriority'], EPERM, [[{ argument: 0, isNot: 0 }], [{ argument: 1, isNot: 0 }]]),
  rule(['ioprio_set'], EPERM, [[{ argument: 0, isNot: 1 }], [{ argument: 1, isNot: 0 }]]),
  rule(['ioctl'], EPERM, valuesOf(1, TERMINAL_INPUT)),
  rule(['fcntl'], EPERM, valuesOf(1, SIGNAL_OWNER)),
  rule(['fchmod', 'creat'], EPERM, bitsOf(1, SET_ID)),
  rule(['open'], EPERM, createdWith(1)),
  rule(['openat'], EPERM, createdWith(2)),
];

/** Returns the rules against signals to the owner of an engine process, to its process group, and to every process. */
function signalRules(ownerPid: number): readonly ConditionalRule[] {
  return [
    rule(['kill'], EPERM, valuesOf(0, [-1, ownerPid, -ownerPid])),
    rule(['tgkill'], EPERM, valuesOf(0, [ownerPid])),
  ];
}

function rule(
  calls: readonly SyscallName[],
  errno: number,
  clauses: readonly (readonly Condition[])[],
): ConditionalRule {
  return { calls, errno, clauses };
}

function bitsOf(argument: number, bits: readonly number[]): Condition[][] {
  return bits.map((mask) => [{ argument, mask, is: mask }]);
}

function valuesOf(argument: number, values: readonly number[]): Condition[][] {
  return values.map((is) => [{ argument, is }]);
}

/** Returns clauses for the mode of open(2), which follows the flags and is used only with O_CREAT. */
function createdWith(flags: number): Condition[][] {
  return bitsOf(flags + 1, SET_ID).map((mode) => [{ argument: flags, mask: O_CREAT, is: O_CREAT }, ...mode]);
}

/** Operations of classic BPF (linux/bpf_common.h). */
const LOAD = 0x20;
const AND = 0x54;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_NOT_LESS = 0x35;
const RETURN = 0x06;
/** Return values of a filter (linux/seccomp.h). */
const ALLOW = 0x7fff_0000;
const ERRNO = 0x0005_0000;
const KILL_PROCESS = 0x8000_0000;
/** Offsets in struct seccomp_data. */
const NUMBER_AT = 0;
const ARCH_AT = 4;
const ARGUMENTS_AT = 16;

interface Instruction {
  readonly operation: number;
  readonly operand: number;
  /** Instructions that a jump skips when its condition holds; `otherwise` when it does not. */
  readonly skip?: number;
  readonly otherwise?: number;
}

/**
 * Returns the filter program as an array of struct sock_filter; null for a processor whose calls are not in the table.
 * With `ownerPid` it also refuses signals to that process, for engine processes that share its process namespace.
 */
export function seccompFilter({ arch, ownerPid }: { arch: string; ownerPid: number | null }): Buffer | null {
  const table = syscallTable(arch);
  if (table === null) return null;
  const conditional = [...CONDITIONAL, ...(ownerPid === null ? [] : signalRules(ownerPid))];
  const program = [
    { operation: LOAD, operand: ARCH_AT },
    { operation: JUMP_IF_EQUAL, operand: table.auditArch, skip: 1 },
    { operation: RETURN, operand: KILL_PROCESS },
    { operation: LOAD, operand: NUMBER_AT },
    // Refuses the calls of the x32 convention too, whose numbers are higher.
    { operation: JUMP_IF_NOT_LESS, operand: NEWEST_SYSCALL + 1, otherwise: 1 },
    refuse(ENOSYS),
    ...REFUSED.flatMap(([errno, calls]) => calls.flatMap((call) => onCall(table, call, [refuse(errno)]))),
    ...conditional.flatMap((one) => one.calls.flatMap((call) => onCall(table, call, conditionalBody(one)))),
    { operation: RETURN, operand: ALLOW },
  ];
  return encode(program);
}

function refuse(errno: number): Instruction {
  return { operation: RETURN, operand: ERRNO + errno };
}

/** Returns instructions that run the body for one call. Expects its number to be loaded and the body to return. */
function onCall(table: SyscallTable, call: SyscallName, body: readonly Instruction[]): readonly Instruction[] {
  const number = table.numberOf(call);
  return number === null ? [] : [{ operation: JUMP_IF_EQUAL, operand: number, otherwise: body.length }, ...body];
}

function conditionalBody({ errno, clauses }: ConditionalRule): readonly Instruction[] {
  return [...clauses.flatMap((conditions) => clause(conditions, errno)), { operation: RETURN, operand: ALLOW }];
}

/** Returns instructions that refuse the call when all conditions hold, otherwise continue after the clause. */
function clause([first, ...others]: readonly Condition[], errno: number): readonly Instruction[] {
  if (first === undefined) return [refuse(errno)];
  const then = clause(others, errno);
  const { argument, mask, is, isNot } = first;
  const operand = is ?? isNot ?? 0;
  const jump = is === undefined ? { skip: then.length } : { otherwise: then.length };
  return [
    { operation: LOAD, operand: ARGUMENTS_AT + 8 * argument },
    ...(mask === undefined ? [] : [{ operation: AND, operand: mask }]),
    { operation: JUMP_IF_EQUAL, operand, ...jump },
    ...then,
  ];
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(({ operation, operand, skip = 0, otherwise = 0 }, index) => {
    bytes.writeUInt16LE(operation, index * 8);
    bytes.writeUInt8(skip, index * 8 + 2);
    bytes.writeUInt8(otherwise, index * 8 + 3);
    bytes.writeUInt32LE(operand >>> 0, index * 8 + 4);
  });
  return bytes;
}

import { constants as files } from 'node:fs';
import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { seccompFilter } from '#worker-image/tools/seccomp-filter.ts';
import { syscallTable, type SyscallName } from '#worker-image/tools/syscall-numbers.ts';

const { EACCES, ENOSYS, EPERM } = constants.errno;
const { O_CREAT, O_RDONLY, O_WRONLY } = files;
const [AF_UNIX, AF_INET, SOCK_STREAM, SOCK_DGRAM, SOCK_CLOEXEC] = [1, 2, 1, 2, 0o2000000];
const CLONE_NEWUSER = 0x1000_0000;
const CLONE_THREAD = 0x1_0000;
const OWNER = 4242;
/** Number of read(2) in the calling convention x32 of the same processor. */
const X32_READ = 0x4000_0000;

interface Call {
  readonly auditArch: number;
  readonly number: number;
  readonly args: readonly number[];
}

/** Runs a filter program as the kernel does. Returns the error number; null: allowed; `killed`. */
function run(program: Buffer, call: Call): number | 'killed' | null {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number, 0);
  data.writeUInt32LE(call.auditArch, 4);
  call.args.forEach((argument, index) => data.writeBigInt64LE(BigInt(argument), 16 + 8 * index));
  let accumulator = 0;
  for (let at = 0; at < program.length; at += 8) {
    const operand = program.readUInt32LE(at + 4);
    const jump = (condition: boolean): void => {
      at += 8 * program.readUInt8(at + (condition ? 2 : 3));
    };
    switch (program.readUInt16LE(at)) {
      case 0x20:
        accumulator = data.readUInt32LE(operand);
        break;
      case 0x54:
        accumulator = (accumulator & operand) >>> 0;
        break;
      case 0x15:
        jump(accumulator === operand);
        break;
      case 0x35:
        jump(accumulator >= operand);
        break;
      case 0x06:
        if (operand === 0x8000_0000) return 'killed';
        return operand === 0x7fff_0000 ? null : operand - 0x0005_0000;
      default:
        throw new Error(`unknown operation at byte ${at}`);
    }
  }
  throw new Error('the program does not return');
}

describe.each(['x64', 'arm64'])('the filter for %s', (arch) => {
  const table = syscallTable(arch);
  const auditArch = table?.auditArch ?? 0;
  const program = (ownerPid: number | null = null): Buffer => seccompFilter({ arch, ownerPid }) ?? Buffer.alloc(0);
  const calls = (name: SyscallName, ...args: readonly number[]): number | 'killed' | null =>
    run(program(OWNER), { auditArch, number: table?.numberOf(name) ?? -1, args });

  it.each<[string, SyscallName, readonly number[]]>([
    ['a stream socket of the machine', 'socket', [AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC]],
    ['a new thread', 'clone', [CLONE_THREAD]],
    ['reading the personality', 'personality', [0xffff_ffff]],
    ['limits of the caller itself', 'prlimit64', [0]],
    ['another ioctl', 'ioctl', [0, 0x5401]],
    ['a new file', 'openat', [0, 0, O_CREAT | O_WRONLY, 0o644]],
    ['a set-user-ID mode without a new file, where the mode is ignored', 'openat', [0, 0, O_RDONLY, 0o4755]],
    ['a signal to another process', 'kill', [OWNER + 1, 9]],
  ])('allows %s', (_what, name, args) => {
    expect(calls(name, ...args)).toBeNull();
  });

  it.each<[string, SyscallName, readonly number[], number]>([
    ['a socket of the network', 'socket', [AF_INET, SOCK_STREAM], EACCES],
    ['a datagram socket of the machine', 'socket', [AF_UNIX, SOCK_DGRAM], EACCES],
    ['a connection', 'connect', [], EACCES],
    ['a user namespace', 'clone', [CLONE_NEWUSER | CLONE_THREAD], EPERM],
    ['a clone whose flags are in memory', 'clone3', [], ENOSYS],
    ['another personality', 'personality', [0x4_0000], EPERM],
    ['limits of another process', 'prlimit64', [OWNER], EPERM],
    ['input into a terminal', 'ioctl', [0, 0x5412], EPERM],
    ['a set-user-ID mode', 'fchmod', [0, 0o4755], EPERM],
    ['a new set-group-ID file', 'openat', [0, 0, O_CREAT | O_WRONLY, 0o2755], EPERM],
    ['tracing', 'ptrace', [], EPERM],
    ['a signal to the owner', 'kill', [OWNER, 9], EPERM],
    ['a signal to the process group of the owner', 'kill', [-OWNER, 9], EPERM],
    ['a signal to every process', 'kill', [-1, 9], EPERM],
    ['a signal to a thread of the owner', 'tgkill', [OWNER, OWNER, 9], EPERM],
  ])('refuses %s', (_what, name, args, errno) => {
    expect(calls(name, ...args)).toBe(errno);
  });

  it('seems to succeed in listening', () => {
    expect([calls('bind'), calls('listen')]).toEqual([0, 0]);
  });

  it('allows all signals in a process namespace', () => {
    const number = table?.numberOf('kill') ?? -1;
    expect(run(program(null), { auditArch, number, args: [OWNER, 9] })).toBeNull();
  });

  it('refuses newer calls and those of another calling convention', () => {
    for (const number of [470, X32_READ]) expect(run(program(), { auditArch, number, args: [] })).toBe(ENOSYS);
  });

  it('kills a process of another processor', () => {
    expect(run(program(), { auditArch: 0x4000_0003, number: 0, args: [] })).toBe('killed');
  });
});

describe('seccompFilter', () => {
  it('returns null for a processor that is not in the table', () => {
    expect(seccompFilter({ arch: 'riscv64', ownerPid: null })).toBeNull();
  });
});

/**
 * Replaces `worker-image/sandbox/child.ts`, as if a file had compromised the decoder. Its input is an `AttackOrders`
 * object as JSON. The tests run it without isolation, so it can do more than an attacker in production.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer, Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

export interface AttackOrders {
  readonly attack: string;
  /** Path of a file that no caller may receive. */
  readonly secret: string;
  /** Folder with a copy of the secret as `output`, which must not be removed. */
  readonly trap: string;
  /** Process id of an unrelated process. */
  readonly stranger: number;
  /** Path to which it writes the id of a process that it leaves running. */
  readonly leftPid: string;
}

interface AttackTask {
  readonly path: string;
  readonly directory: string;
}

interface RunningAttack extends AttackOrders {
  readonly task: AttackTask;
  /** Path of the expected output. */
  readonly output: string;
}

const CHANNEL = 3;
const GIB = 1024 ** 3;
const HONEST = 'what an honest process makes';

const channel = new Socket({ fd: CHANNEL });
createInterface({ input: channel }).on('line', (line) => {
  const message = JSON.parse(line) as { type: string; task: AttackTask };
  if (message.type === 'process') runAttack(message.task);
});
channel.on('error', () => undefined);

function runAttack(task: AttackTask): void {
  const orders = JSON.parse(readFileSync(task.path, 'utf8')) as AttackOrders;
  const attack = ATTACKS[orders.attack];
  if (attack === undefined) throw new Error(`There is no attack ${orders.attack}.`);
  attack({ ...orders, task, output: join(task.directory, 'output') });
}

const ATTACKS: Readonly<Record<string, (attack: RunningAttack) => void>> = {
  nothing: (at) => honest(at),

  // Attacks by the output.
  link: (at) => made(at, () => symlinkSync(at.secret, at.output)),
  'relative link': (at) => made(at, () => symlinkSync(join('../../..', at.secret), at.output)),
  'link to its standard input': (at) => made(at, () => symlinkSync('/proc/self/fd/0', at.output)),
  'hard link': (at) => made(at, () => linkSync(at.secret, at.output)),
  'own folder is a link': (at) =>
    made(at, () => {
      renameSync(at.task.directory, `${at.task.directory}-before`);
      symlinkSync(at.trap, at.task.directory);
    }),
  'own home is a link': (at) =>
    made(at, () => {
      const home = dirname(at.task.directory);
      renameSync(home, `${home}-before`);
      mkdirSync(home);
      symlinkSync(at.trap, join(home, 'file'));
    }),
  'own folder is deleted': (at) => made(at, () => rmSync(at.task.directory, { recursive: true })),
  'named pipe': (at) => made(at, () => spawnSync('sh', ['-c', 'mkfifo "$0"', at.output])),
  device: (at) => made(at, () => spawnSync('mknod', [at.output, 'c', '1', '5'])),
  socket: (at) => void createServer().listen(at.output, () => done(at)),
  directory: (at) => made(at, () => mkdirSync(at.output)),
  'no output': (at) => done(at),
  'sparse file of 20 GiB': (at) =>
    made(at, () => {
      writeFileSync(at.output, '');
      truncateSync(at.output, 20 * GIB);
    }),
  'another size': (at) => honest(at, { result: { output_size: 7 } }),
  'a kept original that is a link': (at) => {
    const input = readFileSync(at.task.path);
    rmSync(at.task.path);
    symlinkSync(at.secret, at.task.path);
    done(at, kept(input.length));
  },
  'a kept original of another size': (at) => done(at, kept(7)),
  'a kept original that it has lengthened': (at) => {
    const input = readFileSync(at.task.path);
    writeFileSync(at.task.path, Buffer.concat([input, input]));
    done(at, kept(input.length));
  },

  // Attacks by the report.
  'a path in its message': (at) => honest(at, {}, { path: at.secret }),
  'the message of before': (at) => say({ type: 'done', file: { path: at.secret, report: {} }, rssBytes: 1 }),
  'pages of an image': (at) => honest(at, { result: { pages: 3 } }),
  'another format': (at) => honest(at, { result: { output_format: 'html' } }),
  'a format that does not exist': (at) => honest(at, { result: { output_format: 'exe' } }),
  'another kind': (at) => honest(at, { result: { kind: 'font' } }),
  'more savings': (at) => honest(at, { result: { savings_percent: 99 } }),
  'an original that is kept and changed': (at) => honest(at, { result: { kept_original: true } }),
  'infinite size': (at) => honestText(at, /"output_size":\d+/, '"output_size":1e999'),
  'no number as a size': (at) => honestText(at, /"output_size":\d+/, '"output_size":NaN'),
  'a negative size': (at) => honest(at, { result: { original_size: -1 } }),
  'a malformed hash': (at) => honest(at, { outputSha256: '../../etc/shadow' }),
  'a version of its own': (at) => honest(at, { tools: { sharp: '<script>' } }),
  'a warning with control characters': (at) => honest(at, { result: { warnings: ['\u001b[2J\u202Egone'] } }),
  'a long warning': (at) => honest(at, { result: { warnings: ['x'.repeat(201)] } }),
  'many warnings': (at) => honest(at, { result: { warnings: Array.from({ length: 11 }, () => 'x') } }),
  'a field more': (at) => honest(at, { result: { download_url: 'https://evil.example' } }),

  // Attacks by messages.
  null: () => write('null\n'),
  'no JSON': () => write('{{{\n'),
  'an array': () => write('[]\n'),
  'an empty line': () => write('\n'),
  'bytes that are not UTF-8': () => void writeSync(CHANNEL, Buffer.from([0xff, 0xfe, 0x0a])),
  'deep JSON': () => write(`${'['.repeat(60_000)}\n`),
  'an unknown type': () => say({ type: 'owner' }),
  'no type': () => say({ code: 'timeout' }),
  'an unknown code': () => refuse({ code: 'no_such_code' }),
  'a code of accounts': () => refuse({ code: 'account_suspended' }),
  'a code of the prototype': () => refuse({ code: 'constructor' }),
  'keys of the prototype': () => write('{"__proto__":{"type":"done"},"type":"killed","message":"x"}\n'),
  'a long refusal': () => refuse({ message: 'x'.repeat(1001) }),
  'a refusal with control characters': () => refuse({ message: 'gone\r\n\u001b[31m' }),
  'a message of 150 MB': () => flood(Buffer.alloc(1024 ** 2, 0x20), 150),
  'a progress of 150 MB': () => {
    write('{"type":"progress","percent":1,"padding":"');
    flood(Buffer.alloc(1024 ** 2, 0x78), 150);
  },
  'a flood of progress': () => flood(Buffer.from('{"type":"progress","percent":1}\n'.repeat(30_000)), 150),
  'falling progress': () => {
    say({ type: 'progress', percent: 9 });
    say({ type: 'progress', percent: 8 });
  },
  'progress above 100': () => say({ type: 'progress', percent: 101 }),
  'two results at once': (at) => {
    prepareHonest(at);
    const line = `${JSON.stringify(doneMessage(at))}\n`;
    write(line + line);
  },
  'a second result while idle': (at) => {
    honest(at);
    setTimeout(() => done(at), 200);
  },
  'a second budget': () => {
    say({ type: 'budget', cpuSeconds: 1000 });
    say({ type: 'budget', cpuSeconds: 1_000_000 });
  },
  "a stranger's process group": ({ stranger }) => say({ type: 'group', pid: stranger, alive: true }),

  // Attacks by behavior.
  'never answers': () => undefined,
  'stops itself': () => process.kill(process.pid, 'SIGSTOP'),
  'closes its pipe and lives on': () => {
    channel.destroy();
    setInterval(() => undefined, 1000);
  },
  'unlimited standard error': () => {
    const junk = Buffer.alloc(1024 ** 2, 0x78);
    const on = (): void => void process.stderr.write(junk, on);
    process.stderr.on('error', () =>
      say({ type: 'refused', code: 'timeout', message: 'x', param: null, cause: null, rssBytes: 1 }),
    );
    on();
  },
  'standard error with control characters': (at) => {
    process.stderr.write('\u001b[2J{"level":30,"msg":"forged"}\n', () => honest(at));
  },
  'leaves a process': (at) => escapeTree(at, [], {}),
  'leaves a process in a session of its own': (at) => escapeTree(at, ['setsid', '-f'], {}),
  'leaves a process with its own environment': (at) =>
    escapeTree(at, ['env', '-i', 'PATH=/usr/bin:/bin'], { cwd: '/' }),
  'leaves a process that holds its pipe': (at) => {
    const left = spawn('sleep', ['3600'], { stdio: ['ignore', 'ignore', 'ignore', CHANNEL], detached: true });
    writeFileSync(at.leftPid, String(left.pid));
    process.exit(3);
  },
  'exits at once': () => process.exit(3),
  'many files': (at) => {
    for (let name = 0; name < 2500; name += 1) writeFileSync(join(at.task.directory, String(name)), '');
    honest(at);
  },
  'deep folders': (at) => {
    process.chdir(at.task.directory);
    for (let depth = 0; depth < 300; depth += 1) {
      mkdirSync('x');
      process.chdir('x');
    }
    process.chdir('/');
    honest(at);
  },
  'links in the place of folders': (at) => {
    mkdirSync(join(at.task.directory, 'in'));
    symlinkSync(at.trap, join(at.task.directory, 'in', 'deep'));
    symlinkSync(at.trap, join(at.task.directory, 'out'));
    honest(at);
  },
  'folders that nobody may enter': (at) => {
    mkdirSync(join(at.task.directory, 'closed/inner'), { recursive: true });
    spawnSync('chmod', ['000', join(at.task.directory, 'closed')]);
    honest(at);
  },
  'a file beside its task': (at) => {
    writeFileSync(join(dirname(at.task.directory), 'left'), 'for the next file');
    honest(at);
  },
};

function made(at: RunningAttack, make: () => void): void {
  make();
  done(at, { result: { output_size: readFileSync(at.secret).length } });
}

function honest(at: RunningAttack, changes: ReportChanges = {}, more: object = {}): void {
  prepareHonest(at);
  done(at, changes, more);
}

function prepareHonest(at: RunningAttack): void {
  writeFileSync(at.output, HONEST);
}

function honestText(at: RunningAttack, pattern: RegExp, replacement: string): void {
  prepareHonest(at);
  write(`${JSON.stringify(doneMessage(at)).replace(pattern, replacement)}\n`);
}

interface ReportChanges {
  readonly result?: object;
  readonly outputSha256?: string;
  readonly tools?: object;
}

function done(at: RunningAttack, changes: ReportChanges = {}, more: object = {}): void {
  say({ ...doneMessage(at, changes), ...more });
}

/** Returns a report that is true for `HONEST` except for the changes. */
function doneMessage(at: RunningAttack, changes: ReportChanges = {}): object {
  const original = readOr(at.task.path).length;
  const size = HONEST.length;
  const result = {
    kind: 'image',
    input_format: 'png',
    output_format: 'png',
    original_size: original,
    output_size: size,
    kept_original: false,
    increased: false,
    width: 1,
    height: 1,
    pages: null,
    duration_seconds: null,
    video_codec: null,
    warnings: [],
    ...changes.result,
  };
  const savings = Math.round((1 - result.output_size / result.original_size) * 1000) / 10 + 0;
  const report = {
    inputSha256: createHash('sha256').update('').digest('hex'),
    outputSha256: createHash('sha256').update('').digest('hex'),
    tools: {},
    ...changes,
    result: { savings_percent: savings, ...result },
  };
  return { type: 'done', report, rssBytes: 1, mustBeReplaced: false };
}

function kept(size: number): ReportChanges {
  return { result: { kept_original: true, output_size: size, original_size: size } };
}

function readOr(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(1);
  }
}

function refuse(changes: object): void {
  say({ type: 'refused', code: 'processing_failed', message: 'x', param: null, cause: null, rssBytes: 1, ...changes });
}

/** Writes the piece repeatedly until the owner closes its end. */
function flood(piece: Buffer, times: number): void {
  let left = times;
  const on = (): void => {
    left -= 1;
    if (left >= 0) channel.write(piece, on);
  };
  on();
}

/** Starts a process by a double fork, so that its parent has ended. */
function escapeTree(at: RunningAttack, prefix: readonly string[], options: { cwd?: string }): void {
  const script = `"$@" sh -c 'echo $$ > "$0"; exec sleep 3600' '${at.leftPid}' &`;
  spawnSync('sh', ['-c', script, 'sh', ...prefix], { stdio: 'ignore', ...options });
  while (readOr(at.leftPid).length < 2) spawnSync('true');
  honest(at);
}

function say(message: object): void {
  write(`${JSON.stringify(message)}\n`);
}

function write(text: string): void {
  channel.write(text);
}

/**
 * A tool that a file has compromised prints and writes what the attacker wants. It runs inside the decoder's isolation.
 * Its output must lead to a refusal of the file, never to an internal error, a hang or a false report.
 */
import { copyFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Operation } from '#crds/catalogue/formats.ts';
import { resolveOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits } from '#crds/catalogue/plans.ts';
import { loadHandler, processFile } from '#worker-image/engine/process-file.ts';
import { makeRunCommand, type ToolResult, type RunCommand } from '#worker-image/tools/run-command.ts';

const LIMITS = fileLimits('payg');
/** Exit code of qpdf for success with warnings. With 0, `--requires-password` would mean an encrypted file. */
const QPDF_WARNINGS = 3;
const STREAM = { index: 0, codec_type: 'audio', codec_name: 'mp3', sample_rate: '44100', channels: 2 };

/** Output that replaces the output of a tool. `onLine` receives each line too. */
const PRINTED: readonly (readonly [what: string, tool: string, sample: string, stdout: string])[] = [
  ['nothing', 'ffprobe', 'talk.mp3', ''],
  ['null', 'ffprobe', 'talk.mp3', 'null'],
  ['a list', 'ffprobe', 'talk.mp3', '[]'],
  ['half of an object', 'ffprobe', 'talk.mp3', '{ "streams": ['],
  ['streams that are a text', 'ffprobe', 'talk.mp3', probe({ streams: 'many' })],
  ['a stream that is null', 'ffprobe', 'talk.mp3', probe({ streams: [null] })],
  ['an index beyond exact numbers', 'ffprobe', 'talk.mp3', probe({ streams: [{ ...STREAM, index: 2 ** 60 }] })],
  ['infinitely many channels', 'ffprobe', 'talk.mp3', probe({ streams: [{ ...STREAM, channels: '1e999' }] })],
  ['negative channels', 'ffprobe', 'talk.mp3', probe({ streams: [{ ...STREAM, channels: -5 }] })],
  ['a codec with an option of ffmpeg', 'ffprobe', 'talk.mp3', probe({ streams: [{ ...STREAM, codec_name: '-f' }] })],
  ['keys of the prototype', 'ffprobe', 'talk.mp3', `{ "__proto__": { "streams": [] },${probe({}).slice(1)}`],
  ['a line of a megabyte', 'ffprobe', 'talk.mp3', 'x'.repeat(1024 ** 2)],
  ['a hundred thousand lines', 'ffprobe', 'talk.mp3', '{\n'.repeat(100_000)],
  ['no pages', 'qpdf', 'report.pdf', '0'],
  ['negative pages', 'qpdf', 'report.pdf', '-3'],
  ['infinitely many pages', 'qpdf', 'report.pdf', 'Infinity'],
  ['half a page', 'qpdf', 'report.pdf', '1.5'],
  ['more pages than the limit', 'qpdf', 'report.pdf', '1e9'],
  ['a size of no pixels', 'raw-identify', 'photo.dng', 'Output size: 0 x 0\n'],
  ['a size of a billion pixels', 'raw-identify', 'photo.dng', 'Output size: 99999 x 99999\n'],
  ['a size with a hundred digits', 'raw-identify', 'photo.dng', `Output size: ${'9'.repeat(100)} x 1\n`],
  ['no size', 'raw-identify', 'photo.dng', 'Output size: -1 x -1\n'],
];

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hostile-tool-'));
});
afterEach(() => rm(directory, { recursive: true }));

it.each(PRINTED)('%s from %s about %s leads to a refusal', async (_what, tool, sample, stdout) => {
  const exitCode = tool === 'qpdf' ? QPDF_WARNINGS : 0;
  await expect(compress(sample, forgeOutput(tool, { exitCode, stdout, stderr: '' }))).rejects.toMatchObject({
    name: 'MediaError',
    code: expect.stringMatching(/^(processing_failed|limit_exceeded)$/),
  });
});

it.each([
  ['ffmpeg', 'talk.mp3'],
  ['ffprobe', 'talk.mp3'],
  ['qpdf', 'report.pdf'],
  ['dcraw_emu', 'photo.dng'],
  ['raw-identify', 'photo.dng'],
  ['vips', 'photo.heic'],
])('%s that reports success and writes no file leads to a refusal of %s', async (tool, sample) => {
  await expect(
    compress(sample, forgeOutput(tool, { exitCode: tool === 'qpdf' ? QPDF_WARNINGS : 0, stdout: '', stderr: '' })),
  ).rejects.toMatchObject({
    name: 'MediaError',
    code: 'processing_failed',
  });
});

it.each(['python3', 'qpdf', 'ffmpeg'])(
  'error output of %s with control characters is not sent to the caller',
  async (tool) => {
    const sample = tool === 'ffmpeg' ? 'talk.mp3' : 'report.pdf';
    const said = '\u001b[2J/etc/shadow root:x\r\n';
    const outcome = await compress(sample, forgeOutput(tool, { exitCode: 1, stdout: said, stderr: said })).then(
      ({ report }) => JSON.stringify(report),
      (error: unknown) => (error instanceof Error ? error.message : ''),
    );
    expect(outcome).not.toMatch(/\u001b|\\u001b/);
  },
);

it('of 100 MB that a tool prints without a line end the first 64 KiB are kept', async () => {
  const lines: number[] = [];
  const before = process.memoryUsage.rss();
  const { stdout, stderr } = await makeRunCommand()({
    file: 'sh',
    args: ['-c', 'head -c 104857600 /dev/zero | tr "\\0" x; head -c 104857600 /dev/zero | tr "\\0" y >&2'],
    directory,
    signal: new AbortController().signal,
    timeoutSeconds: 120,
    onLine: (line) => lines.push(line.length),
  });
  expect([stdout.length, stderr.length]).toEqual([64 * 1024, 64 * 1024]);
  expect(Math.max(0, ...lines)).toBeLessThanOrEqual(64 * 1024);
  expect(process.memoryUsage.rss() - before).toBeLessThan(150 * 1024 ** 2);
});

it('processes that a tool started end with it', async () => {
  const mark = join(directory, 'mark');
  await makeRunCommand()({
    file: 'sh',
    args: ['-c', `sleep 600 & echo $! >${mark}`],
    directory,
    signal: new AbortController().signal,
    timeoutSeconds: 60,
  });
  const pid = Number(await readFile(mark, 'utf8'));
  await expect
    .poll(() =>
      stat(`/proc/${pid}/exe`).then(
        () => 'alive',
        () => 'deleted',
      ),
    )
    .toBe('deleted');
});

function probe(printed: object): string {
  return `{\n    "streams": [${JSON.stringify({ streams: [STREAM], format: {}, ...printed })}`;
}

/** Returns a runner that replaces the output of one tool and runs all others. */
function forgeOutput(name: string, response: ToolResult): RunCommand {
  const run = makeRunCommand();
  return async (command) => {
    if (command.file !== name) return run(command);
    for (const line of response.stdout.split('\n')) command.onLine?.(line);
    return response;
  };
}

async function compress(sample: string, run: RunCommand) {
  const path = join(directory, 'input');
  await copyFile(join(import.meta.dirname, '../../api/data/samples', sample), path);
  const operation: Operation = 'compress';
  return processFile(
    { run, onProgress: () => undefined, signal: new AbortController().signal, loadHandler, versions: {} },
    {
      operation,
      options: resolveOptions(new Map()),
      limits: LIMITS,
      features: { video: true, heicOutput: true },
      lane: 'job',
      path,
      filename: sample,
      directory,
    },
  );
}

/**
 * A video job whose encoder the test stops and resumes, with the checks after its end. A stopped encoder is still
 * running when the test kills something, however short the video is.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { OwnService } from '#test/crash/own-service.ts';
import { filesBelow } from '#test/support/files-below.ts';
import { drawVideo } from '#test/fixtures/make-media-fixtures.ts';
import { filesOfAttempts, type ServiceProcess } from '#test/support/service-processes.ts';
import { startReceiver, type Receiver } from '#test/support/receiver.ts';
import { finished, upload } from '#test/support/run-through.ts';

export interface RunningJob {
  readonly id: string;
  readonly receiver: Receiver;
}

const run = promisify(execFile);
const SECONDS = 6;
const SIZE = { width: 640, height: 360 };

let made: Promise<Buffer> | null = null;

const POLL = { timeout: 60_000, interval: 50 };

function video(): Promise<Buffer> {
  const source = `testsrc2=size=${SIZE.width}x${SIZE.height}:rate=25:duration=${SECONDS}`;
  made ??= drawVideo(source, '-crf', '20');
  return made;
}

export async function startVideoJob(
  service: OwnService,
  fields: Record<string, unknown> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<RunningJob> {
  const receiver = await startReceiver();
  const input = fields['input'] ?? { upload: await upload(service.api(), await video(), 'video.mp4') };
  const options = { video: { codec: 'h264' } };
  const json = { operation: 'compress', options, webhook_url: `${receiver.url}/hook`, ...fields, input };
  const created = await service.api()('POST', '/v1/jobs', { json, headers });
  expect(created.status).toBe(202);
  return { id: String(created.json()['id']), receiver };
}

/**
 * Resolves when the encoder of that attempt runs and is stopped. The job's percentage is no sign of it: it is reported
 * twice a second, in which a fast machine encodes the whole video.
 */
export async function untilEncoding(service: OwnService, { id }: RunningJob, attempt = 1): Promise<void> {
  const observed = async () => {
    const running = encoders(service);
    signalAll(running, 'SIGSTOP');
    const { status, attempt: current } = await rowOf(service, id);
    return { status, attempt: current, encoders: running.length };
  };
  await expect.poll(observed, POLL).toEqual({ status: 'processing', attempt, encoders: 1 });
}

/** Resumes the encoder that `untilEncoding` has stopped. */
export function resumeEncoder(service: OwnService): void {
  const [encoder] = encoders(service);
  if (encoder === undefined) throw new Error('no encoder runs');
  process.kill(encoder.pid, 'SIGCONT');
}

function signalAll(processes: readonly ServiceProcess[], signal: NodeJS.Signals): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** Encoders are found by their command: earlier releases have other folders. */
function encoders(service: OwnService): ServiceProcess[] {
  return service.processes().filter(({ command }) => command.startsWith('/usr/bin/ffmpeg '));
}

export async function rowOf(service: OwnService, id: string): Promise<Record<string, any>> {
  const [row] = await service.query('select status, percent, attempt, output_key from jobs where id = $1', [id]);
  return row ?? {};
}

/**
 * Waits for the job's success and checks it: the output plays, one ledger row, one event that arrived,
 * and nothing of the work is left.
 */
export async function expectDoneOnce(service: OwnService, { id, receiver }: RunningJob): Promise<void> {
  const job = await finished(service.api(), id, 150);
  expect(job).toMatchObject({ status: 'succeeded', error: null, result: { ...SIZE, output_format: 'mp4' } });
  expect(await service.query('select meter from ledger where source_id = $1', [id])).toHaveLength(1);
  await expectOneEvent(service, { id, receiver });
  await expectNothingLeft(service);
  const { download_url: url, output_size: size } = job['result'] as {
    download_url: string | null;
    output_size: number;
  };
  if (url !== null) await expectPlays(await download(service, url), size);
}

/** Checks that duplicates are of the same event. */
async function expectOneEvent(service: OwnService, { id, receiver }: RunningJob): Promise<void> {
  const events = (): string[] =>
    receiver.received.map(({ body }) => (JSON.parse(body.toString()) as { id: string }).id);
  await expect.poll(events, { timeout: 90_000, interval: 100 }).not.toEqual([]);
  const rows = await service.query('select id from webhook_deliveries where job_id = $1', [id]);
  expect([...new Set(events())]).toEqual(rows.map((row) => row['id']));
}

/** Checks that no process, private directory, partial file or input remains after the job. */
export async function expectNothingLeft(service: OwnService): Promise<void> {
  await expect.poll(() => service.processes().filter((one) => one.ofJob), { timeout: 20_000 }).toEqual([]);
  await expect.poll(() => filesOfAttempts(service.data), { timeout: 20_000 }).toEqual([]);
  await expect.poll(() => filesBelow(path.join(service.data, 'files', '@temp')), { timeout: 20_000 }).toEqual([]);
  await expect.poll(() => inputsLeft(service), { timeout: 20_000 }).toEqual([]);
}

function inputsLeft(service: OwnService): string[] {
  return filesBelow(path.join(service.data, 'files', 'objects')).filter((file) => !file.startsWith('outputs/'));
}

async function download(service: OwnService, url: string): Promise<Buffer> {
  const response = await service.api()('GET', url, { key: null });
  expect(response.status).toBe(200);
  return response.bytes;
}

/** Checks that the output has every frame and the duration of the input. */
export async function expectPlays(bytes: Buffer, size: number = bytes.length): Promise<void> {
  expect(bytes.length).toBe(size);
  await inFolder(async (folder) => {
    const file = path.join(folder, 'output.mp4');
    await writeFile(file, bytes);
    const shown = [
      '-show_entries',
      'stream=width,height,nb_read_frames',
      '-count_frames',
      '-select_streams',
      'v:0',
      '-of',
      'json',
    ];
    const { stdout } = await run('ffprobe', ['-v', 'error', ...shown, file]);
    expect(JSON.parse(stdout).streams).toEqual([
      expect.objectContaining({ ...SIZE, nb_read_frames: String(SECONDS * 25) }),
    ]);
  });
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'mediajobs-video-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

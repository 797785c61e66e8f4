/** Compares processed audio and video: codecs, duration, tones, and that the white flash and its tone stay in sync. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Format } from '#crds/catalogue/formats.ts';
import { CLAP, FIXTURE_SECONDS, TONES } from '#test/fixtures/make-media-fixtures.ts';
import { runToolForOutput } from '#test/fixtures/run-tool.ts';
import type { Comparison } from '#test/matrix/comparison.ts';
import { readOnce } from '#test/matrix/read-once.ts';
import { wordsIn } from '#test/matrix/words-in.ts';

const RATE = 16_000;
const WINDOW_SECONDS = 0.02;
const FPS = 25;
const WHITE = 220;
const SMALL = { width: 16, height: 9 };
const DECODED_SOUND = `-map 0:a:0 -af aresample=async=1:first_pts=0 -ac 1 -ar ${RATE} -f s16le`.split(' ');
const SMALL_GRAY = `fps=${FPS}:start_time=0,scale=${SMALL.width}:${SMALL.height}:flags=area,format=gray`;
const DECODED_PICTURE = ['-map', '0:v:0', '-vf', SMALL_GRAY, '-f', 'rawvideo'];
/** Maximum difference of durations, in seconds: audio encoders begin a block early or late. */
const SECONDS_TOLERANCE = 0.15;
const SYNC_TOLERANCE = 0.09;

const AUDIO_CODECS: Readonly<Partial<Record<Format, RegExp>>> = {
  aac: /^aac$/,
  m4a: /^(aac|alac)$/,
  mp3: /^mp3$/,
  ogg: /^(vorbis|opus)$/,
  opus: /^opus$/,
  wav: /^pcm_/,
  flac: /^flac$/,
  alac: /^alac$/,
  wma: /^wmav2$/,
};
const VIDEO_CODECS: Readonly<Record<string, string>> = { h264: 'h264', h265: 'hevc', vp9: 'vp9' };

/** Tags of the fixtures. */
const TAGS = ['A tone', 'Nobody'];

interface Stream {
  readonly type: string;
  readonly codec: string;
  /** Size in pixels; null for audio. */
  readonly size: string | null;
}

export async function compareMedia(comparison: Comparison): Promise<void> {
  const { file, source } = comparison;
  const { result } = file.report;
  const { directory } = comparison;
  expect(result.duration_seconds).toBeGreaterThan(FIXTURE_SECONDS - SECONDS_TOLERANCE);
  expect(result.duration_seconds).toBeLessThan(FIXTURE_SECONDS + SECONDS_TOLERANCE);
  const decoded = await decode(file.path, directory, result.kind === 'video');
  const heard = highToneStart(decoded.samples);
  if (result.kind === 'audio') {
    expect(decoded.streams.map(({ type }) => type)).toEqual(['Audio']);
    expect(decoded.streams[0]?.codec).toMatch(AUDIO_CODECS[result.output_format] ?? /^$/);
    expect(heard).toBeGreaterThan(CLAP.from - SYNC_TOLERANCE);
    expect(heard).toBeLessThan(CLAP.from + SYNC_TOLERANCE);
    if (comparison.cell.operation === 'compress') expect(wordsIn(await readFile(file.path), TAGS)).toEqual([]);
    return;
  }
  const [pictureBefore, picture] = [videoOf(await streamsOfSource(source, directory)), videoOf(decoded.streams)];
  const { codec } = comparison.cell.options.video ?? {};
  if (codec !== undefined && !result.kept_original) expect(picture.codec).toBe(VIDEO_CODECS[codec]);
  expect(`${result.width}x${result.height}`).toBe(pictureBefore.size);
  expect(picture.size).toBe(pictureBefore.size);
  expect(Math.abs(whiteFramesStart(decoded.frames) - heard)).toBeLessThan(SYNC_TOLERANCE);
}

function videoOf(streams: readonly Stream[]): Stream {
  const found = streams.filter(({ type }) => type === 'Video');
  expect(found).toHaveLength(1);
  return found[0]!;
}

const streamsOfSource = readOnce(async (path, directory) => (await decode(path, directory, true)).streams);

const STREAM = /^ +Stream #0:\d+.*?: (\w+): (\w+)(?:.*?, (\d+x\d+))?/gm;

/** Returns the streams of the input that ffmpeg lists in its error output. */
function streamsIn(printed: string): Stream[] {
  const [input = ''] = printed.split('Stream mapping:');
  return [...input.matchAll(STREAM)].map(([, type = '', codec = '', size = null]) => ({ type, codec, size }));
}

/** Returns the start of the high tone, in seconds. Asserts that the steady tones precede it. */
function highToneStart(samples: Buffer): number {
  const size = Math.round(RATE * WINDOW_SECONDS);
  const windows = Math.floor(samples.length / 2 / size);
  const second = new Int16Array(RATE / 2).map((_, i) => samples.readInt16LE((RATE * 0.3 + i) * 2));
  const tones = TONES.reduce((sum, hertz) => sum + power(second, hertz), 0);
  expect(tones).toBeGreaterThan(0.4);
  for (let i = 0; i < windows; i += 1) {
    const window = new Int16Array(size).map((_, k) => samples.readInt16LE((i * size + k) * 2));
    if (power(window, CLAP.hertz) > 0.2) return i * WINDOW_SECONDS;
  }
  throw new Error('the high tone was not found');
}

/** Returns the share of a tone in the signal's energy (Goertzel algorithm). */
function power(samples: Int16Array, hertz: number): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * hertz) / RATE);
  let [one, two, all] = [0, 0, 0];
  for (const sample of samples) {
    [one, two] = [sample + coefficient * one - two, one];
    all += sample * sample;
  }
  return all === 0 ? 0 : (2 * (one * one + two * two - coefficient * one * two)) / (samples.length * all);
}

/** Returns the start of the white frames, in seconds. */
function whiteFramesStart(frames: Buffer): number {
  const size = SMALL.width * SMALL.height;
  for (let i = 0; (i + 1) * size <= frames.length; i += 1) {
    const mean = frames.subarray(i * size, (i + 1) * size).reduce((sum, value) => sum + value, 0) / size;
    if (mean > WHITE) return i / FPS;
  }
  throw new Error('no white frame was found');
}

let files = 0;

interface Decoded {
  readonly streams: readonly Stream[];
  /** Mono samples of 16 bits at `RATE`. */
  readonly samples: Buffer;
  /** Small gray frames of a video. */
  readonly frames: Buffer;
}

/** Decodes a file and lists its streams, with one start of ffmpeg, which takes longer than a short file. */
async function decode(path: string, directory: string, isVideo: boolean): Promise<Decoded> {
  const to = join(directory, `decoded-${(files += 1)}`);
  const picture = isVideo ? [...DECODED_PICTURE, `${to}.gray`] : [];
  const args = ['-nostdin', '-nostats', '-i', path, ...DECODED_SOUND, `${to}.s16`, ...picture];
  const { stderr } = await runToolForOutput(directory, 'ffmpeg', args);
  return {
    streams: streamsIn(stderr),
    samples: await readFile(`${to}.s16`),
    frames: isVideo ? await readFile(`${to}.gray`) : Buffer.alloc(0),
  };
}

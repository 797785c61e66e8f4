import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Format } from '#crds/catalogue/formats.ts';
import type { SentOptions } from '#crds/catalogue/options/options.ts';
import {
  engineDeps,
  freshDirectory,
  inspectingOnce,
  runHandler,
  workOn,
  type Fixture,
} from '#test/fixtures/engine-work.ts';
import { sharedFixtures } from '#test/fixtures/make-fixtures.ts';
import { draw, FIXTURE_SECONDS, SOUND_AND_COVER } from '#test/fixtures/make-media-fixtures.ts';
import type { Produced } from '#worker-image/engine/handler.ts';
import { audioHandler } from '#worker-image/engine/media/audio-handler.ts';
import type { MediaFacts } from '#worker-image/engine/media/probe.ts';
import type { MediaStream } from '#worker-image/engine/media/probe-schema.ts';
import { stripAsf } from '#worker-image/engine/media/strip-asf.ts';
import { runFfprobe } from '#worker-image/tools/ffmpeg.ts';

const handler = inspectingOnce(audioHandler);
const AUDIO_INPUTS = ['mp3', 'aac', 'wav', 'flac', 'm4a', 'ogg', 'opus', 'wma'] as const;
const NOISE = ['-f', 'lavfi', '-i', 'anoisesrc=duration=3:sample_rate=44100:amplitude=0.3'];

const ID3V2 = Buffer.from('ID3\x04\0\0\0\0\0\x19TIT2\0\0\0\x0f\0\0\0planted words\0', 'latin1');
const ID3V1 = Buffer.from('TAGplanted words'.padEnd(128, '\0'));
const LYRICS = Buffer.from('LYRICSBEGINETT00013planted words000032LYRICS200');
const APE = Buffer.concat([
  apeMark(0xa000_0000),
  Buffer.from('\r\0\0\0\0\0\0\0Title\0planted words'),
  apeMark(0x8000_0000),
]);

/** Returns the header or footer of an APEv2 tag whose one item has 27 bytes. */
function apeMark(flags: number): Buffer {
  const mark = Buffer.alloc(32);
  mark.write('APETAGEX');
  [2000, 27 + mark.length, 1, flags].forEach((number, index) => mark.writeUInt32LE(number, 8 + index * 4));
  return mark;
}

let directory = '';
let fixtures: Map<Format, Fixture>;

beforeAll(async () => {
  directory = await freshDirectory();
  fixtures = new Map((await sharedFixtures('audio')).map((fixture) => [fixture.format, fixture]));
});

function fixture(format: Format): Fixture {
  const found = fixtures.get(format);
  if (found === undefined) throw new Error(`no fixture for ${format}`);
  return found;
}

async function averageKbps({ path, facts }: Produced): Promise<number> {
  return ((await stat(path)).size * 8) / 1000 / (facts.durationSeconds ?? 0);
}

/** Overwrites the packets, and the number of channels in the sample description. */
async function breakAudio(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes.fill(0x55, bytes.indexOf('mdat') + 4, bytes.indexOf('moov') - 4);
  bytes.writeUInt16BE(0, bytes.indexOf('mp4a', bytes.indexOf('stsd')) + 20);
  await writeFile(path, bytes);
}

async function compress(source: Fixture, audio: SentOptions['audio'] = {}): Promise<Produced<MediaFacts>> {
  return runHandler(handler, await workOn({ ...source, operation: 'compress', options: { audio } }));
}

async function convert(source: Fixture, to: string): Promise<Produced<MediaFacts>> {
  return runHandler(handler, await workOn({ ...source, operation: 'convert', options: { convert: { to } } }));
}

/** Returns the audio track that was found in the file. */
function track({ facts }: Pick<Produced<MediaFacts>, 'facts'>): MediaStream | undefined {
  return facts.probe.audio[0];
}

async function tags({ path, format }: Produced): Promise<string> {
  const printed = await runFfprobe(engineDeps(), {
    input: { path, format },
    entries: 'format_tags:stream_tags',
    directory,
  });
  return JSON.stringify(printed);
}

function stripped(source: Fixture): Promise<Produced<MediaFacts>> {
  return workOn({ ...source, operation: 'strip_metadata' }).then((work) => runHandler(handler, work));
}

describe('compressing audio', () => {
  it.each(AUDIO_INPUTS)('encodes %s as aac of the same duration', async (format) => {
    const produced = await compress(fixture(format));
    expect(produced.format).toBe('aac');
    expect(Math.abs((produced.facts.durationSeconds ?? 0) - FIXTURE_SECONDS)).toBeLessThan(0.2);
    expect(track(produced)).toMatchObject({ codec_name: 'aac', channels: 2 });
  });

  // Promise, Direct endpoints: Compress options change the result: quality, format, channels, rates, metadata
  it.each([
    ['m4a', 'aac', 44_100],
    ['mp3', 'mp3', 44_100],
    ['ogg', 'vorbis', 44_100],
    ['opus', 'opus', 48_000],
    ['wav', 'pcm_s16le', 44_100],
    ['flac', 'flac', 44_100],
    ['alac', 'alac', 44_100],
  ] as const)('writes %s', async (format, codec, rate) => {
    const produced = await compress(fixture('wav'), { format });
    expect(produced.format).toBe(format);
    expect(track(produced)).toMatchObject({ codec_name: codec, sample_rate: rate });
  });

  it.each([
    ['mp3', 'mp3', 'mp3'],
    ['aac', 'aac', 'aac'],
    ['m4a', 'm4a', 'aac'],
    ['ogg', 'ogg', 'vorbis'],
    ['opus', 'opus', 'opus'],
    ['flac', 'flac', 'flac'],
    ['wav', 'wav', 'pcm_s16le'],
    ['wma', 'm4a', 'aac'],
  ] as const)('keeps the codec of %s when the format is original', async (from, to, codec) => {
    const produced = await compress(fixture(from), { format: 'original', quality: 'tiny' });
    expect(produced.format).toBe(to);
    expect(track(produced)?.codec_name).toBe(codec);
    expect(produced.warnings).toHaveLength(from === 'wma' ? 1 : 0);
  });

  it.each([
    ['flac', 'ogg', [], 'flac'],
    ['pcm_s16be', 'm4a', ['-f', 'mov'], 'wav'],
    ['libmp3lame', 'm4a', ['-f', 'mp4'], 'mp3'],
    ['libopus', 'm4a', ['-f', 'mp4', '-ar', '48000'], 'opus'],
  ] as const)('keeps %s of %s when the format is original', async (codec, from, options, to) => {
    const args = [...NOISE, '-c:a', codec, ...options];
    const source = await draw(engineDeps().run, directory, { format: from, name: `original-${codec}`, args });
    const produced = await compress(source, { format: 'original', quality: 'tiny' });
    expect([produced.format, produced.warnings]).toEqual([to, []]);
  });

  it('warns that Speex becomes Vorbis when the format is original', async () => {
    const args = [...NOISE, '-ar', '32000', '-c:a', 'libspeex'];
    const source = await draw(engineDeps().run, directory, { format: 'ogg', name: 'original-speex', args });
    const produced = await compress(source, { format: 'original', quality: 'tiny' });
    expect(track(produced)?.codec_name).toBe('vorbis');
    expect(produced.warnings).toEqual([expect.stringContaining('vorbis was used')]);
  });

  it('encodes AAC of 960 samples per frame, which ADTS does not support', async () => {
    const args = ['-f', 'lavfi', '-i', 'anullsrc=duration=2:sample_rate=44100', '-c:a', 'aac'];
    const source = await draw(engineDeps().run, directory, { format: 'm4a', name: 'frames-of-960', args });
    const bytes = await readFile(source.path);
    // ISO/IEC 14496-3, 1.6.2: AAC-LC, 44.1 kHz, two channels. Sets the flag of 960 samples, which frames of silence fit.
    const config = bytes.indexOf(Buffer.from('1210', 'hex'), bytes.indexOf('esds'));
    bytes.writeUInt8(0x14, config + 1);
    await writeFile(source.path, bytes);
    const produced = await compress(source, { format: 'aac', quality: 'maximum' });
    expect(track(produced)).toMatchObject({ codec_name: 'aac', channels: 2 });
  });

  // Promise, Direct endpoints: Compress options change the result: quality, format, channels, rates, metadata
  it.each(['aac', 'mp3', 'ogg', 'opus'] as const)('produces a larger %s with each tier', async (format) => {
    const source = await draw(engineDeps().run, directory, { format: 'wav', name: `noise-${format}`, args: NOISE });
    const sizes: number[] = [];
    for (const quality of ['tiny', 'low', 'balanced', 'high', 'maximum'] as const) {
      sizes.push((await stat((await compress(source, { format, quality })).path)).size);
    }
    expect(sizes).toEqual([...new Set(sizes)].toSorted((a, b) => a - b));
  });

  it('copies the stream when encoding it again would not reduce its bit rate', async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'mp3',
      name: 'thin',
      args: [...NOISE, '-c:a', 'libmp3lame', '-b:a', '64k', '-write_xing', '0', '-map_metadata', '-1'],
    });
    const produced = await compress(source, { format: 'mp3', quality: 'maximum' });
    expect(Math.abs((await stat(produced.path)).size - (await stat(source.path)).size)).toBeLessThan(1000);
  });

  it.each([
    [48, 44_100, 2],
    [32, 44_100, 1],
    [24, 16_000, 2],
  ])('keeps an Ogg file near %i kbit/s at %i Hz with %i channels', async (kbps, rate, channels) => {
    const produced = await compress(fixture('wav'), {
      format: 'ogg',
      bitrate_kbps: kbps,
      sample_rate_hz: rate,
      channels: channels === 1 ? 'mono' : 'stereo',
    });
    expect(await averageKbps(produced)).toBeLessThan(kbps * 1.3);
  });

  it.each([
    ['ogg', 32, 44_100],
    ['ogg', 16, 96_000],
    ['mp3', 16, 44_100],
  ] as const)('writes %s at the lowest bit rate for %i kbit/s at %i Hz, with a warning', async (format, kbps, rate) => {
    const produced = await compress(fixture('wav'), { format, bitrate_kbps: kbps, sample_rate_hz: rate });
    expect(produced.warnings).toContainEqual(expect.stringContaining(`which was used instead of ${kbps}`));
    expect(await averageKbps(produced)).toBeGreaterThan(0.9 * kbps);
  });

  it('warns when the requested bit rate is above the highest of the encoder', async () => {
    const produced = await compress(fixture('wav'), { format: 'mp3', bitrate_kbps: 512 });
    expect(produced.warnings).toEqual([expect.stringContaining('supports at most 320 kbit/s')]);
  });

  it('reports an audio track as damaged, not as missing, when its first packets do not decode', async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'm4a',
      name: 'broken-start',
      args: ['-f', 'lavfi', '-i', 'sine=duration=0.1:sample_rate=48000', '-c:a', 'libmp3lame', '-f', 'mp4'],
    });
    await breakAudio(source.path);
    await expect(compress(source)).rejects.toMatchObject({
      code: 'processing_failed',
      message: expect.stringContaining('The audio track is damaged'),
    });
  });

  it("never exceeds the source's bit rate", async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'mp3',
      name: 'thin-2',
      args: [...NOISE, '-c:a', 'libmp3lame', '-b:a', '64k'],
    });
    const produced = await compress(source, { format: 'aac', bitrate_kbps: 320 });
    expect((await stat(produced.path)).size).toBeLessThan((await stat(source.path)).size * 1.15);
  });

  // Promise, Direct endpoints: Compress options change the result: quality, format, channels, rates, metadata
  it('warns about further audio tracks, of which the result has none', async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'm4a',
      name: 'two-tracks',
      args: [...NOISE, '-map', '0:a', '-map', '0:a', '-c:a', 'aac'],
    });
    const work = await workOn({ ...source, operation: 'convert', options: { convert: { to: 'mp3' } } });
    expect((await runHandler(handler, work)).warnings).toEqual(['A further audio track was dropped.']);
  });

  it('mixes down to one channel at the given sample rate and bit rate', async () => {
    const produced = await compress(fixture('wav'), {
      format: 'mp3',
      channels: 'mono',
      sample_rate_hz: 22_050,
      bitrate_kbps: 32,
    });
    expect(track(produced)).toMatchObject({ channels: 1, sample_rate: 22_050, bit_rate: 32_000 });
  });

  it.each([1, 2])('encodes %d channels whose decoder names no layout, as that of Speex', async (channels) => {
    const args = [...NOISE, '-ac', String(channels), '-ar', '32000', '-c:a', 'libspeex'];
    const source = await draw(engineDeps().run, directory, { format: 'ogg', name: `speex${channels}`, args });
    expect(track(await compress(source, {}))).toMatchObject({ codec_name: 'aac', channels });
  });

  it('uses the nearest sample rate that the codec supports, with a warning', async () => {
    const produced = await compress(fixture('wav'), { format: 'mp3', sample_rate_hz: 40_000 });
    expect(track(produced)?.sample_rate).toBe(44_100);
    expect(produced.warnings).toEqual(['mp3 has no sample rate of 40000 Hz; 44100 Hz was used.']);
  });

  // Promise, Bad input, case by case: Sample rates
  it.each([
    ['opus', 44_100],
    ['mp3', 96_000],
    ['m4a', 192_000],
  ] as const)('refuses a sample rate that the original format %s does not support', async (format, rate) => {
    await expect(compress(fixture(format), { format: 'original', sample_rate_hz: rate })).rejects.toMatchObject({
      code: 'invalid_options',
      param: 'audio.sample_rate_hz',
    });
  });

  it('reduces a sample rate to the highest that the encoder supports', async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'wav',
      name: 'fast',
      args: ['-f', 'lavfi', '-i', 'sine=duration=1:sample_rate=384000'],
    });
    expect(track(await compress(source, { format: 'ogg' }))?.sample_rate).toBe(192_000);
    expect(track(await compress(source))?.sample_rate).toBe(96_000);
    expect(track(await compress(source, { format: 'mp3' }))?.sample_rate).toBe(48_000);
    expect(track(await compress(source, { format: 'opus' }))?.sample_rate).toBe(48_000);
  });

  it.each(['aac', 'mp3', 'ogg', 'opus', 'm4a'] as const)('encodes a single sample as %s', async (format) => {
    const source = await draw(engineDeps().run, directory, {
      format: 'wav',
      name: `sample-${format}`,
      args: ['-f', 'lavfi', '-i', 'sine=sample_rate=192000', '-af', 'atrim=end_sample=1'],
    });
    expect((await compress(source, { format })).facts.durationSeconds).toBeLessThan(0.2);
  });

  it.each(['aac', 'mp3', 'ogg', 'opus', 'flac', 'alac', 'wav'] as const)(
    'encodes surround audio as %s',
    async (format) => {
      const source = await draw(engineDeps().run, directory, {
        format: 'wav',
        name: `surround-${format}`,
        args: ['-f', 'lavfi', '-i', 'aevalsrc=0.1*sin(440*t)|0.1|0.1|0.1|0.1|0.1:s=48000:d=1:c=5.1(side)'],
      });
      const produced = await compress(source, { format });
      expect(track(produced)?.channels).toBe(format === 'mp3' ? 2 : 6);
      expect(produced.warnings).toHaveLength(format === 'mp3' ? 1 : 0);
    },
  );

  it.each(['flac', 'alac'] as const)('warns that %s supports at most 24 bits', async (format) => {
    const args = ['-f', 'lavfi', '-i', 'sine=duration=1', '-c:a', 'pcm_s32le'];
    const source = await draw(engineDeps().run, directory, { format: 'wav', name: 'deepest', args });
    expect((await compress(source, { format })).warnings).toEqual([expect.stringContaining('rounded to 24')]);
  });

  it('keeps 24 bits where the output is lossless', async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'wav',
      name: 'deep',
      args: [...NOISE, '-c:a', 'pcm_s24le'],
    });
    expect(track(await compress(source, { format: 'flac' }))).toMatchObject({
      sample_fmt: 's32',
      bits_per_raw_sample: 24,
    });
    expect(track(await compress(source, { format: 'alac' }))).toMatchObject({ sample_fmt: 's32p' });
  });
});

describe('tags and cover art of audio', () => {
  // Promise, Direct endpoints: Compress options change the result: quality, format, channels, rates, metadata
  it.each(['aac', 'm4a', 'mp3', 'ogg', 'opus', 'flac', 'wav'] as const)(
    'are kept in %s, or removed on request',
    async (format) => {
      for (const from of ['mp3', 'ogg'] as const) {
        expect(await tags(await compress(fixture(from), { format }))).toContain('A tone');
        expect(await tags(await compress(fixture(from), { format, strip_metadata: true }))).not.toMatch(/tone|Nobody/i);
      }
    },
  );

  it.each(['m4a', 'mp3', 'flac'] as const)('are kept in %s, which is still audio', async (format) => {
    const source = await draw(engineDeps().run, directory, {
      format: 'mp3',
      name: `covered-${format}`,
      args: [
        ...SOUND_AND_COVER,
        '-c:a',
        'libmp3lame',
        '-b:a',
        '320k',
        '-c:v',
        'mjpeg',
        '-disposition:v',
        'attached_pic',
        '-id3v2_version',
        '3',
      ],
    });
    const produced = await compress(source, { format });
    expect(produced.facts.probe).toMatchObject({ video: null, cover: { codec_name: 'mjpeg' } });
    expect((await compress(source, { format, strip_metadata: true })).facts.probe.cover).toBeNull();
  });
});

// Every format into every target: test/matrix.
describe('converting audio', () => {
  it('copies AAC into an m4a', async () => {
    const [from, to] = [fixture('aac'), await convert(fixture('aac'), 'm4a')];
    expect(Math.abs((await stat(to.path)).size - (await stat(from.path)).size)).toBeLessThan(3000);
  });

  it.each([
    ['out of Ogg', 'ogg', 1],
    ['of a truncated file', 'flac', 0.5],
  ] as const)('writes the number of samples into the header of a FLAC %s', async (name, format, part) => {
    const args = [...NOISE, '-c:a', 'flac'];
    const whole = await draw(engineDeps().run, directory, { format, name: `header-${name}`, args });
    const bytes = await readFile(whole.path);
    const path = join(directory, `header-${name}-part.${format}`);
    await writeFile(path, bytes.subarray(0, bytes.length * part));
    const produced = await convert({ ...whole, path }, 'flac');
    const { claimedSeconds } = produced.facts.probe;
    expect(Math.abs(claimedSeconds - 3 * part)).toBeLessThan(0.2);
  });

  it.each([
    ['m4a', []],
    ['ogg', ['A cover image was dropped.', '2 chapters were dropped.']],
    ['wav', ['A cover image was dropped.', '2 chapters were dropped.']],
  ] as const)('to %s warns of dropped cover art and chapters: %j', async (to, warnings) => {
    const chapters = join(directory, 'chapters.txt');
    const marks = [0, 500].map((at) => `[CHAPTER]\nTIMEBASE=1/1000\nSTART=${at}\nEND=${at + 500}\ntitle=At ${at}\n`);
    await writeFile(chapters, `;FFMETADATA1\n${marks.join('')}`);
    const inputs = SOUND_AND_COVER.toSpliced(SOUND_AND_COVER.indexOf('-map'), 0, '-i', chapters);
    const args = [...inputs, '-map_chapters', '2', '-c:v', 'mjpeg', '-id3v2_version', '3'];
    const name = `chapters-${to}`;
    const source = await draw(engineDeps().run, directory, { format: 'mp3', name, args });
    expect((await convert(source, to)).warnings).toEqual(warnings);
  });
});

describe('audio with a gap that the container skips', () => {
  it.each(['wav', 'mp3', 'opus'] as const)('keeps the gap as silence in %s', async (format) => {
    const source = await draw(engineDeps().run, directory, {
      format: 'm4a',
      name: `pause-${format}`,
      args: ['-f', 'lavfi', '-i', 'sine=duration=3', '-af', "aselect='lt(t,1)+gt(t,2)'", '-c:a', 'aac'],
    });
    const { facts } = await compress(source, { format });
    expect(Math.abs((facts.durationSeconds ?? 0) - 3)).toBeLessThan(0.2);
  });
});

describe('removing tags without encoding', () => {
  it.each(AUDIO_INPUTS)('returns %s without tags', async (format) => {
    const produced = await stripped(fixture(format));
    expect(produced.format).toBe(format);
    expect(await tags(produced)).not.toMatch(/A tone|Nobody/);
    const source = await workOn({ ...fixture(format), operation: 'strip_metadata' });
    expect(track(produced)?.codec_name).toBe(track({ facts: await handler.inspect(engineDeps(), source) })?.codec_name);
  });

  it.each(['mp3', 'aac'] as const)('removes everything before and behind the frames of an %s', async (format) => {
    const sound = ['-f', 'lavfi', '-i', 'sine=duration=1', '-b:a', '48k'];
    const source = await draw(engineDeps().run, directory, { format, name: 'bare', args: sound });
    const bare = await readFile((await stripped(source)).path);
    await writeFile(source.path, Buffer.concat([ID3V2, bare, APE, LYRICS, ID3V1]));
    const produced = await compress(source, { format, strip_metadata: true });
    expect(bare.equals(await readFile(produced.path))).toBe(true);
  });

  it('makes a flac no larger and keeps its channel layout', async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'flac',
      name: 'placed',
      args: ['-f', 'lavfi', '-i', 'aevalsrc=0.1|0.2|0.1:s=8000:d=1:c=2.1', '-metadata', 'title=planted words'],
    });
    const { path } = await stripped(source);
    const [before, after] = [await readFile(source.path), await readFile(path)];
    expect(after.length).toBeLessThan(before.length);
    expect(after.includes('planted words')).toBe(false);
    const file = { input: { path, format: 'flac' }, entries: 'stream=channel_layout', directory } as const;
    expect(await runFfprobe(engineDeps(), file)).toMatchObject({ streams: [{ channel_layout: '2.1' }] });
  });

  it('rejects a wma that is truncated in its header', async () => {
    const whole = await readFile(fixture('wma').path);
    for (let length = 0; length < 300; length += 7)
      expect(() => stripAsf(whole.subarray(0, length))).toThrow(/damaged/);
  });
});

describe('the duration of a file', () => {
  // Promise, Bad input, case by case: Pixels, frames, pages, durations
  it.each(['aac', 'flac', 'opus', 'mp3'] as const)('is measured in %s', async (format) => {
    const facts = await audioHandler.inspect(engineDeps(), await workOn({ ...fixture(format), operation: 'compress' }));
    expect(Math.abs((facts.durationSeconds ?? 0) - FIXTURE_SECONDS)).toBeLessThan(0.1);
  });
});

describe('a FLAC file whose frames are not numbered consecutively', () => {
  it.each(['m4a', 'wav', 'mp3'] as const)('keeps its duration in %s', async (to) => {
    const args = ['-f', 'lavfi', '-i', 'anoisesrc=duration=1:amplitude=0.3'];
    const part = await readFile(
      (await stripped(await draw(engineDeps().run, directory, { format: 'flac', args }))).path,
    );
    const [headerBytes, path] = [42, join(directory, 'joined.flac')];
    await writeFile(path, Buffer.concat([part, part.subarray(headerBytes)]));
    const { facts } = await convert({ name: 'joined', path, format: 'flac' }, to);
    expect(Math.abs((facts.durationSeconds ?? 0) - 2)).toBeLessThan(0.1);
  });
});

describe('a chained Ogg file', () => {
  const SONGS = [
    ['ogg', 'libvorbis'],
    ['opus', 'libopus'],
  ] as const;

  /** Returns a file of two consecutive songs of two seconds, with the options of the encoder for each. */
  async function chain(
    format: 'ogg' | 'opus',
    first: readonly string[],
    second: readonly string[] = first,
  ): Promise<Fixture> {
    const songs = [first, second].map(async (options, index) => {
      const title = ['-metadata', `title=Song ${index}`];
      const args = ['-f', 'lavfi', '-i', 'anoisesrc=duration=2:amplitude=0.3', ...options, ...title];
      return readFile((await draw(engineDeps().run, directory, { format, name: `song-${index}`, args })).path);
    });
    const path = join(directory, `chained.${format}`);
    await writeFile(path, Buffer.concat(await Promise.all(songs)));
    return { name: 'chained', path, format };
  }

  /** Decodes the file and returns the seconds of its samples. */
  async function decodedSeconds({ path, format }: Produced<MediaFacts>): Promise<number> {
    const args = ['-i', path, '-ar', '8000', '-ac', '1', '-c:a', 'pcm_s16le'];
    const decoded = await draw(engineDeps().run, directory, { format: 'wav', name: `decoded-${format}`, args });
    return (await stat(decoded.path)).size / 16_000;
  }

  it.each(SONGS)('of %s is compressed whole, without the tags of either song', async (format, codec) => {
    const source = await chain(format, ['-c:a', codec, '-b:a', '64k']);
    const produced = await compress(source, { format: 'original', quality: 'maximum', strip_metadata: true });
    expect((await readFile(produced.path)).includes('Song')).toBe(false);
    const untagged = await readFile((await stripped(source)).path);
    expect(untagged.includes('Song')).toBe(false);
    expect(untagged.length).toBeLessThan((await stat(source.path)).size);
    expect(produced.warnings).toEqual([]);
    expect(Math.abs(produced.facts.durationSeconds - 4)).toBeLessThan(0.1);
    expect(Math.abs((await decodedSeconds(produced)) - 4)).toBeLessThan(0.1);
  });

  it.each(SONGS)('of %s is converted whole, with the tags of the first song and a warning', async (format, codec) => {
    const source = await chain(format, ['-c:a', codec]);
    for (const to of ['m4a', 'mp3', 'wav', 'flac', 'ogg']) {
      const produced = await convert(source, to);
      expect(produced.warnings).toEqual([expect.stringContaining('with the tags of the first')]);
      expect(await tags(produced)).toContain('Song 0');
      expect((await readFile(produced.path)).includes('Song 1')).toBe(false);
      expect(Math.abs((await decodedSeconds(produced)) - 4), to).toBeLessThan(0.1);
    }
  });

  it('of mono and stereo Opus is decoded whole', async () => {
    const produced = await convert(await chain('opus', ['-ac', '1'], ['-ac', '2']), 'm4a');
    expect(Math.abs((await decodedSeconds(produced)) - 4)).toBeLessThan(0.1);
  });

  it.each([
    ['sample rates', ['-ar', '44100'], ['-ar', '8000']],
    ['channels', ['-ac', '1'], ['-ac', '2']],
    ['codecs', ['-c:a', 'libvorbis'], ['-c:a', 'flac']],
  ])('is refused when its songs have different %s', async (_what, first, second) => {
    const source = await chain('ogg', first, second);
    await expect(convert(source, 'm4a')).rejects.toMatchObject({
      code: 'processing_failed',
      message: expect.stringContaining('Split it'),
    });
  });
});

describe('Opus with a cover image', () => {
  it.each([{ format: 'original', strip_metadata: true }, { format: 'opus' }] as const)(
    'is copied as without the image by %j',
    async (options) => {
      const args = [...NOISE, '-c:a', 'libopus', '-b:a', '48k'];
      const plain = await draw(engineDeps().run, directory, { format: 'opus', name: 'uncovered', args });
      const covered = await draw(engineDeps().run, directory, {
        format: 'opus',
        name: 'covered',
        args: [...args, '-metadata', `METADATA_BLOCK_PICTURE=${await pictureBlock()}`],
      });
      const produced = await compress(covered, options);
      expect((await stat(covered.path)).size).toBeGreaterThan(2 * (await stat(plain.path)).size);
      expect((await stat(produced.path)).size).toBeLessThan((await stat(plain.path)).size * 1.02);
    },
  );

  /** Returns a FLAC picture block of a JPEG of noise, in base64. */
  async function pictureBlock(): Promise<string> {
    const noise = 'nullsrc=size=200x200,geq=random(1)*255:128:128';
    const args = ['-f', 'lavfi', '-i', noise, '-frames:v', '1', '-q:v', '2'];
    const jpeg = await readFile((await draw(engineDeps().run, directory, { format: 'jpg', name: 'front', args })).path);
    const type = Buffer.from('image/jpeg');
    const numbers = (...values: readonly number[]): Buffer => Buffer.from(Uint32Array.from(values).buffer).swap32();
    const head = [numbers(3, type.length), type, numbers(0, 200, 200, 24, 0, jpeg.length)];
    return Buffer.concat([...head, jpeg]).toString('base64');
  }
});

describe('a Vorbis stream that ends before its last packet begins', () => {
  it('has the duration of its samples, whatever its last packet declares', async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'ogg',
      name: 'instant',
      args: ['-f', 'lavfi', '-i', 'sine=sample_rate=44100', '-af', 'atrim=end_sample=960', '-c:a', 'libvorbis'],
    });
    const { durationSeconds } = (await compress(source, { format: 'ogg' })).facts;
    expect(durationSeconds).toBeLessThan(0.1);
  });
});

describe('files that are not audio', () => {
  it('refuses a file without an audio track', async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'm4a',
      name: 'mute',
      args: ['-f', 'lavfi', '-i', 'testsrc2=duration=1', '-c:v', 'libx264', '-f', 'mp4'],
    });
    await expect(compress(source)).rejects.toMatchObject({
      code: 'processing_failed',
      message: expect.stringContaining('no audio track'),
    });
  });

  it.each(AUDIO_INPUTS)('refuses text with the format %s', async (format) => {
    const path = join(directory, `nonsense.${format}`);
    await writeFile(path, 'nothing of the kind '.repeat(50));
    await expect(compress({ name: 'nonsense', path, format })).rejects.toMatchObject({ code: 'processing_failed' });
  });
});

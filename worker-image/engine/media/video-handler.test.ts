import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Format } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
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
import {
  draw,
  FIXTURE_SECONDS,
  FIXTURE_SIZE,
  SOUND_AND_COVER,
  X264,
  X265_DEEP,
} from '#test/fixtures/make-media-fixtures.ts';
import type { Produced } from '#worker-image/engine/handler.ts';
import { identify } from '#worker-image/engine/identify.ts';
import type { MediaFacts, Probe } from '#worker-image/engine/media/probe.ts';
import { videoHandler } from '#worker-image/engine/media/video-handler.ts';
import { runFfprobe } from '#worker-image/tools/ffmpeg.ts';

const handler = inspectingOnce(videoHandler);
const VIDEO_INPUTS = ['mp4', 'mov', 'avi', 'mkv', 'webm', 'flv', 'wmv', 'm4v', 'mpg', '3gp'] as const;
const VIDEO_SOURCE = ['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=25:duration=2'];

let directory = '';
let fixtures: Map<Format, Fixture>;

beforeAll(async () => {
  directory = await freshDirectory();
  fixtures = new Map((await sharedFixtures('video')).map((fixture) => [fixture.format, fixture]));
});

function fixture(format: Format): Fixture {
  const found = fixtures.get(format);
  if (found === undefined) throw new Error(`no fixture for ${format}`);
  return found;
}

async function compress(source: Fixture, video: SentOptions['video'] = {}): Promise<Produced<MediaFacts>> {
  return runHandler(handler, await workOn({ ...source, operation: 'compress', options: { video } }));
}

async function convert(source: Fixture, to: string): Promise<Produced<MediaFacts>> {
  return runHandler(handler, await workOn({ ...source, operation: 'convert', options: { convert: { to } } }));
}

/** Returns what was found in the file. */
function probed({ facts }: Produced<MediaFacts>): Probe {
  return facts.probe;
}

describe('compressing a video', () => {
  it.each(VIDEO_INPUTS)('encodes %s as an H.265 mp4 of the same duration', async (format) => {
    const produced = await compress(fixture(format), { quality: 'tiny' });
    expect(produced).toMatchObject({ format: 'mp4', facts: { videoCodec: 'h265' } });
    expect(Math.abs((produced.facts.durationSeconds ?? 0) - FIXTURE_SECONDS)).toBeLessThan(0.3);
    expect(probed(produced).audio).toHaveLength(1);
  });

  it.each([
    ['mov', 'h264', 'h264', 'aac'],
    ['mkv', 'h265', 'h265', 'aac'],
    ['webm', 'vp9', 'vp9', 'opus'],
    ['mkv', 'vp9', 'vp9', 'aac'],
  ] as const)('writes %s with %s', async (format, codec, expected, audioCodec) => {
    const produced = await compress(fixture('mp4'), { format, codec, quality: 'low' });
    expect(produced).toMatchObject({ format, facts: { videoCodec: expected, ...FIXTURE_SIZE } });
    expect(probed(produced).audio[0]?.codec_name).toBe(audioCodec);
  });

  it('reduces the long side to the resolution and keeps the sides even', async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'mp4',
      name: 'tall',
      args: ['-f', 'lavfi', '-i', 'testsrc2=size=502x1000:rate=10:duration=1', ...X264],
    });
    expect((await compress(source, { resolution: 854, codec: 'h264' })).facts).toMatchObject({
      width: 428,
      height: 854,
    });
    expect((await compress(source, { resolution: 1280, codec: 'h264' })).facts).toMatchObject({
      width: 502,
      height: 1000,
    });
  });

  it('makes odd sides even', async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'mkv',
      name: 'odd',
      args: ['-f', 'lavfi', '-i', 'testsrc2=size=201x101:rate=10:duration=1', '-c:v', 'ffv1'],
    });
    expect((await compress(source)).facts).toMatchObject({ width: 200, height: 100 });
  });

  it('encodes frames that are too small for H.265 as H.264, with a warning', async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'mp4',
      name: 'small',
      args: ['-f', 'lavfi', '-i', 'testsrc2=size=64x8:rate=10:duration=1', ...X264],
    });
    const produced = await compress(source);
    expect(produced.facts).toMatchObject({ width: 64, height: 8, videoCodec: 'h264' });
    expect(produced.warnings).toEqual([expect.stringContaining('H.264 was used')]);
  });

  it('keeps ten bits and the color properties of HDR in H.265, and not in the web tier', async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'mp4',
      name: 'hdr',
      args: [
        ...VIDEO_SOURCE,
        ...X265_DEEP,
        '-x265-params',
        'log-level=error',
        '-color_primaries',
        'bt2020',
        '-color_trc',
        'smpte2084',
        '-colorspace',
        'bt2020nc',
      ],
    });
    expect(probed(await compress(source)).video).toMatchObject({
      pix_fmt: 'yuv420p10le',
      color_transfer: 'smpte2084',
    });
    expect(probed(await compress(source, { quality: 'web' })).video).toMatchObject({
      pix_fmt: 'yuv420p',
      color_transfer: 'bt709',
    });
    expect(probed(await compress(source, { codec: 'h264' })).video).toMatchObject({
      pix_fmt: 'yuv420p',
      color_transfer: 'bt709',
    });
  });

  it('keeps the times of a variable frame rate', async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'mkv',
      name: 'vfr',
      args: [
        ...VIDEO_SOURCE,
        '-vf',
        "setpts='if(lt(N,25),N/25,1+(N-25)/12.5)/TB'",
        '-fps_mode',
        'vfr',
        '-enc_time_base',
        '1/1000',
        ...X264,
      ],
    });
    const produced = await compress(source, { codec: 'h264' });
    expect(produced.facts.durationSeconds).toBeCloseTo(3, 0);
    expect(await frameCount(produced)).toBe(50);
  });

  it('shows the last frame as long as the input, such as a recording of a screen', async () => {
    const short = await draw(engineDeps().run, directory, {
      format: 'mp4',
      name: 'short',
      args: [...VIDEO_SOURCE, ...X264],
    });
    const source = await draw(engineDeps().run, directory, {
      format: 'mp4',
      name: 'held',
      args: ['-i', short.path, '-c', 'copy', '-bsf:v', String.raw`setts=duration=if(eq(N\,49)\,5/TB\,DURATION)`],
    });
    const seconds = 2 - 1 / 25 + 5;
    expect((await compress(source, { codec: 'h264' })).facts.durationSeconds).toBeCloseTo(seconds, 0);
    const converted = await convert(source, 'webm');
    expect(converted.facts.durationSeconds).toBeCloseTo(seconds, 0);
    // One copy of the last frame marks its end.
    expect(await frameCount(converted)).toBe(51);
  });

  it('reports its progress', async () => {
    const percents: number[] = [];
    const work = await workOn({ ...fixture('mp4'), operation: 'compress', options: { video: { codec: 'h264' } } });
    await runHandler(handler, work, engineDeps({ onProgress: (percent) => percents.push(percent) }));
    expect(percents.at(-1)).toBeGreaterThan(90);
    expect(Math.max(...percents)).toBeLessThanOrEqual(100);
  });
});

describe('converting a video', () => {
  it.each([
    ['mp4', 'mov', 'h264'],
    ['mp4', 'mkv', 'h264'],
    ['mkv', 'mp4', 'h264'],
    ['webm', 'mkv', 'vp8'],
  ] as const)('copies the video stream from %s to %s', async (from, to, codec) => {
    const produced = await convert(fixture(from), to);
    expect(produced.path).toContain('copied');
    expect(produced).toMatchObject({ format: to, facts: { videoCodec: codec, ...FIXTURE_SIZE } });
  });

  it.each([
    ['mp4', 'webm', 'vp9'],
    ['webm', 'mp4', 'h264'],
    ['wmv', 'mov', 'h264'],
    ['flv', 'mkv', 'h264'],
    ['mpg', 'mp4', 'h264'],
  ] as const)('encodes the video stream from %s to %s', async (from, to, codec) => {
    expect(await convert(fixture(from), to)).toMatchObject({ format: to, facts: { videoCodec: codec } });
  });

  it('shows the frames of an avi in their order, which its packets do not have', async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'avi',
      name: 'reordered',
      args: [...VIDEO_SOURCE, '-c:v', 'libx264', '-preset', 'medium', '-bf', '3', '-x264-params', 'b-adapt=0'],
    });
    const produced = await convert(source, 'mp4');
    const hashes = async (path: string): Promise<string[]> => {
      const args = [
        '-v',
        'error',
        '-i',
        path,
        '-vf',
        'scale=8:8,format=gray,lutyuv=y=floor(val/64)*64',
        '-f',
        'framemd5',
        '-',
      ];
      const { stdout } = await engineDeps().run({
        file: 'ffmpeg',
        args,
        directory,
        signal: new AbortController().signal,
        timeoutSeconds: 60,
      });
      return stdout.split('\n').flatMap((line) => line.split(/,\s*/)[5] ?? []);
    };
    const [before, after] = [await hashes(source.path), await hashes(produced.path)];
    const same = before.filter((hash, at) => hash === after[at]).length;
    expect(after).toHaveLength(before.length);
    expect(same / before.length).toBeGreaterThan(0.8);
  });

  it('drops an audio track of an unknown codec, as iPhones record it, with a warning', async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'mp4',
      name: 'spatial',
      args: [
        ...VIDEO_SOURCE,
        '-f',
        'lavfi',
        '-i',
        'sine=d=2',
        '-map',
        '0',
        '-map',
        '1',
        '-map',
        '1',
        ...X264,
        '-c:a',
        'aac',
      ],
    });
    const bytes = await readFile(source.path);
    bytes.write('apac', bytes.lastIndexOf('mp4a'), 'latin1');
    bytes.write('xsds', bytes.lastIndexOf('esds'), 'latin1');
    await writeFile(source.path, bytes);
    for (const produced of [await compress(source), await convert(source, 'mp4')]) {
      expect(probed(produced).audio.map(({ codec_name: name }) => name)).toEqual(['aac']);
      expect(produced.warnings).toEqual(['An audio track of an unsupported codec was dropped.']);
    }
  });

  it('names the colors that the RGB of a screen recording is converted to', async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'mkv',
      name: 'rgb',
      args: ['-f', 'lavfi', '-i', 'color=0x00c000:size=1280x720:duration=1', '-c:v', 'ffv1', '-pix_fmt', 'gbrp'],
    });
    for (const codec of ['h264', 'h265', 'vp9'] as const) {
      const { video } = probed(await compress(source, { codec, ...(codec === 'vp9' && { format: 'webm' }) }));
      expect(video).toMatchObject({ color_space: 'bt709', pix_fmt: 'yuv420p' });
    }
  });

  it('shows uncompressed video of an avi whose fourth byte is 0', async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'avi',
      name: 'unused-byte',
      args: [
        '-f',
        'lavfi',
        '-i',
        'color=white:s=64x64:d=1',
        '-vf',
        'format=bgra,colorchannelmixer=aa=0',
        '-c:v',
        'rawvideo',
      ],
    });
    const produced = await compress(source);
    expect(produced.warnings).toEqual([]);
    const raw = join(directory, 'unused-byte.gray');
    await engineDeps().run({
      file: 'ffmpeg',
      args: [
        '-v',
        'error',
        '-y',
        '-i',
        produced.path,
        '-frames:v',
        '1',
        '-vf',
        'scale=1:1,format=gray',
        '-f',
        'rawvideo',
        raw,
      ],
      directory,
      signal: new AbortController().signal,
      timeoutSeconds: 60,
    });
    expect((await readFile(raw))[0]).toBeGreaterThan(200);
  });

  it("keeps Apple's tags of location and time", async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'mov',
      name: 'phone',
      args: [
        ...VIDEO_SOURCE,
        ...X264,
        '-metadata',
        'com.apple.quicktime.location.ISO6709=+48.1000+011.5000/',
        '-metadata',
        'com.apple.quicktime.make=Apple',
        '-movflags',
        'use_metadata_tags',
      ],
    });
    for (const produced of [await compress(source), await convert(source, 'mp4')]) {
      expect((await readFile(produced.path)).includes('+48.1000+011.5000/')).toBe(true);
      expect(probed(produced).hasAppleTags).toBe(true);
    }
  });

  it('says when high dynamic range becomes standard', async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'mkv',
      name: 'hlg',
      args: [
        ...VIDEO_SOURCE,
        ...X265_DEEP,
        '-x265-params',
        'transfer=arib-std-b67:colorprim=bt2020:colormatrix=bt2020nc:log-level=error',
      ],
    });
    expect((await compress(source, { codec: 'h264' })).warnings).toEqual([expect.stringContaining('dynamic range')]);
    expect((await compress(source)).warnings).toEqual([]);
  });

  it('copies or encodes an avi with packed frames', async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'avi',
      name: 'bframes',
      args: [...VIDEO_SOURCE, '-c:v', 'libx264', '-preset', 'medium', '-bf', '3'],
    });
    expect((await convert(source, 'mkv')).facts.durationSeconds).toBeCloseTo(2, 0);
  });

  it.each([
    ['mp4', true],
    ['mkv', false],
  ])('keeps the rotation of a video in %s', async (to, copied) => {
    const rotated = await draw(engineDeps().run, directory, {
      format: 'mp4',
      name: `rotated-for-${to}`,
      args: ['-i', fixture('mp4').path, '-c', 'copy', '-metadata:s:v', 'rotate=90'],
    });
    const produced = await convert(rotated, to);
    expect(produced.facts).toMatchObject({ width: FIXTURE_SIZE.height, height: FIXTURE_SIZE.width });
    expect(produced.path.includes('copied')).toBe(copied);
  });

  it('does not rotate a video whose display matrix is empty', async () => {
    const bytes = await readFile(fixture('mp4').path);
    const header = bytes.indexOf('tkhd') + 'tkhd'.length;
    // ISO/IEC 14496-12, 8.3.2: offset and length of the matrix.
    bytes.fill(0, header + 40, header + 76);
    const path = join(directory, 'no-matrix.mp4');
    await writeFile(path, bytes);
    const produced = await convert({ name: 'no-matrix', path, format: 'mp4' }, 'webm');
    expect(produced.facts).toMatchObject(FIXTURE_SIZE);
  });

  it.each([
    ['frames that are stored out of order', 2, 'rate=25:duration=2'],
    ['two frames of a second each', 2, 'rate=1:duration=2'],
    ['one frame', 0.04, 'rate=25:duration=0.04'],
  ])('measures the exact duration of a video of %s', async (what, seconds, timing) => {
    const source = await draw(engineDeps().run, directory, {
      format: 'mp4',
      name: `exact ${what}`,
      args: ['-f', 'lavfi', '-i', `testsrc2=size=320x180:${timing}`, '-c:v', 'libx264', '-preset', 'medium'],
    });
    expect((await convert(source, 'mkv')).facts.durationSeconds).toBeCloseTo(seconds, 2);
  });

  it('does not restore trimmed packets', async () => {
    const whole = await draw(engineDeps().run, directory, {
      format: 'mp4',
      name: 'whole',
      args: [
        ...VIDEO_SOURCE,
        '-f',
        'lavfi',
        '-i',
        'sine=duration=2',
        '-c:v',
        'libx264',
        '-preset',
        'ultrafast',
        '-g',
        '250',
      ],
    });
    const trimmed = await draw(engineDeps().run, directory, {
      format: 'mp4',
      name: 'trimmed',
      args: ['-ss', '0.7', '-i', whole.path, '-c', 'copy'],
    });
    for (const produced of [await convert(trimmed, 'mkv'), await compress(trimmed, { format: 'mkv', codec: 'h264' })]) {
      expect(produced.facts.durationSeconds).toBeCloseTo(1.3, 1);
      const { trimmed: hidden, ends } = probed(produced);
      expect(hidden.size).toBe(0);
      expect(Math.abs((ends.get(0) ?? 0) - (ends.get(1) ?? 9))).toBeLessThan(0.1);
      const starts = await runFfprobe(engineDeps(), { input: produced, entries: 'stream=start_time', directory });
      for (const { start_time: start } of (starts as { streams: { start_time: string }[] }).streams)
        expect(Number(start)).toBeLessThan(0.1);
    }
  });

  it('refuses an encrypted file', async () => {
    const key = '0'.repeat(32);
    const source = await draw(engineDeps().run, directory, {
      format: 'mp4',
      name: 'encrypted',
      args: [
        ...VIDEO_SOURCE,
        ...X264,
        '-encryption_scheme',
        'cenc-aes-ctr',
        '-encryption_key',
        key,
        '-encryption_kid',
        key,
      ],
    });
    await expect(identify({ path: source.path, filename: null })).rejects.toThrow(/mp4 file is encrypted/);
  });

  it('tags copied HEVC so that Apple players recognize it', async () => {
    const source = await draw(engineDeps().run, directory, {
      format: 'mkv',
      name: 'hevc',
      args: [...VIDEO_SOURCE, '-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=error'],
    });
    const produced = await convert(source, 'mp4');
    const printed = await engineDeps().run({
      file: 'ffprobe',
      args: ['-v', 'error', '-show_entries', 'stream=codec_tag_string', '-of', 'csv=p=0', produced.path],
      directory,
      signal: new AbortController().signal,
      timeoutSeconds: 20,
    });
    expect(printed.stdout.trim()).toBe('hvc1');
  });
});

describe('files that are not video', () => {
  it.each([
    ['audio only', 'mp4', ['-f', 'lavfi', '-i', 'sine=duration=1', '-c:a', 'aac']],
    ['only a cover', 'mp4', [...SOUND_AND_COVER, '-c:a', 'aac', '-c:v', 'mjpeg', '-disposition:v', 'attached_pic']],
  ] as const)('refuses %s', async (name, format, args) => {
    const source = await draw(engineDeps().run, directory, { format, name: name.replace(' ', '-'), args });
    await expect(compress(source)).rejects.toMatchObject({
      code: 'processing_failed',
      message: expect.stringContaining('no video track'),
    });
  });

  it.each([
    ['a playlist', '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n'],
    ['a list of files', "ffconcat version 1.0\nfile '/etc/passwd'\n"],
    ['nonsense', 'nothing of the kind'],
  ])('refuses %s with the format of a video', async (name, text) => {
    for (const format of ['mp4', 'mkv', 'avi', 'mpg'] as const) {
      const path = join(directory, `${name.replaceAll(' ', '-')}.${format}`);
      await writeFile(path, text);
      await expect(compress({ name, path, format })).rejects.toBeInstanceOf(MediaError);
    }
  });

  it('stops when it is canceled', async () => {
    const abort = new AbortController();
    const work = await workOn({ ...fixture('mp4'), operation: 'compress' });
    const facts = await videoHandler.inspect(engineDeps(), work);
    const deps = engineDeps({
      signal: abort.signal,
      onProgress: () => abort.abort(new Error('canceled by the caller')),
    });
    await expect(videoHandler.compress?.(deps, work, facts)).rejects.toThrow('canceled by the caller');
  });
});

async function frameCount({ path }: Produced): Promise<number> {
  const printed = await engineDeps().run({
    file: 'ffprobe',
    args: [
      '-v',
      'error',
      '-count_packets',
      '-select_streams',
      'v',
      '-show_entries',
      'stream=nb_read_packets',
      '-of',
      'csv=p=0',
      path,
    ],
    directory,
    signal: new AbortController().signal,
    timeoutSeconds: 20,
  });
  return Number(printed.stdout.trim());
}

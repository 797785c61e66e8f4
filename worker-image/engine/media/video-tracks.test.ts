import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { SentOptions } from '#crds/catalogue/options/options.ts';
import {
  engineDeps,
  freshDirectory,
  inspectingOnce,
  runHandler,
  workOn,
  type Fixture,
} from '#test/fixtures/engine-work.ts';
import { draw, X264, X265_DEEP, type Drawing } from '#test/fixtures/make-media-fixtures.ts';
import type { Produced } from '#worker-image/engine/handler.ts';
import type { MediaFacts, Probe } from '#worker-image/engine/media/probe.ts';
import { videoHandler } from '#worker-image/engine/media/video-handler.ts';

const handler = inspectingOnce(videoHandler);
const VIDEO_SOURCE = ['-f', 'lavfi', '-i', 'testsrc2=size=160x90:rate=25:duration=1'];
const AUDIO_SOURCE = ['-f', 'lavfi', '-i', 'sine=duration=1'];
const SUBTITLES = '1\n00:00:00,100 --> 00:00:00,900\nplanted words\n';
const CHAPTERS =
  ';FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=500\ntitle=First\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=500\nEND=1000\ntitle=Second\n';

let directory = '';

beforeAll(async () => {
  directory = await freshDirectory();
  await writeFile(join(directory, 'words.srt'), SUBTITLES);
  await writeFile(join(directory, 'chapters.txt'), CHAPTERS);
  await writeFile(join(directory, 'font.ttf'), Buffer.alloc(64, 1));
});

function drawn(drawing: Drawing): Promise<Fixture> {
  return draw(engineDeps().run, directory, drawing);
}

async function compress(source: Fixture, video: SentOptions['video'] = {}): Promise<Produced<MediaFacts>> {
  return runHandler(handler, await workOn({ ...source, operation: 'compress', options: { video } }));
}

async function convert(source: Fixture, to: string): Promise<Produced<MediaFacts>> {
  return runHandler(handler, await workOn({ ...source, operation: 'convert', options: { convert: { to } } }));
}

/** Returns what was found in the file. */
function probed({ facts }: Pick<Produced<MediaFacts>, 'facts'>): Probe {
  return facts.probe;
}

/** Returns one pixel of a frame: red, green, blue and opacity. */
async function pixelOf({ path }: Produced, filters: string, decoder: readonly string[] = []): Promise<number[]> {
  const raw = join(directory, 'dot.png');
  await engineDeps().run({
    file: 'ffmpeg',
    args: [
      '-nostdin',
      '-v',
      'error',
      '-y',
      ...decoder,
      '-i',
      path,
      '-vf',
      `${filters},format=rgba`,
      '-frames:v',
      '1',
      raw,
    ],
    directory,
    signal: new AbortController().signal,
    timeoutSeconds: 60,
  });
  return [...(await sharp(raw).ensureAlpha().raw().toBuffer()).subarray(0, 4)];
}

async function chaptersOf({ path }: Produced): Promise<string[]> {
  const { stdout } = await engineDeps().run({
    file: 'ffprobe',
    args: ['-v', 'error', '-show_chapters', '-of', 'json', path],
    directory,
    signal: new AbortController().signal,
    timeoutSeconds: 60,
  });
  const printed = z.object({ chapters: z.array(z.object({ tags: z.object({ title: z.string() }) })) });
  return printed.parse(JSON.parse(stdout)).chapters.map(({ tags }) => tags.title);
}

describe('further tracks of a video', () => {
  let source: Fixture;

  beforeAll(async () => {
    source = await drawn({
      format: 'mkv',
      name: 'extras',
      args: [
        ...VIDEO_SOURCE,
        ...AUDIO_SOURCE,
        ...AUDIO_SOURCE,
        '-i',
        join(directory, 'words.srt'),
        '-i',
        join(directory, 'chapters.txt'),
        '-map',
        '0:v',
        '-map',
        '1:a',
        '-map',
        '2:a',
        '-map',
        '3:s',
        '-map_metadata',
        '4',
        '-map_chapters',
        '4',
        '-metadata:s:a:0',
        'language=eng',
        '-metadata:s:a:1',
        'language=deu',
        '-metadata:s:s:0',
        'language=fra',
        ...X264,
        '-crf',
        '5',
        '-c:a',
        'aac',
        '-c:s',
        'srt',
        '-attach',
        join(directory, 'font.ttf'),
        '-metadata:s:t',
        'mimetype=font/ttf',
      ],
    });
  });

  it.each([
    ['mp4', 'mov_text', 0],
    ['mov', 'mov_text', 0],
    ['webm', 'webvtt', 0],
    ['mkv', 'subrip', 1],
  ] as const)('are kept in %s where the container supports them', async (format, subtitles, attachments) => {
    const codec = format === 'webm' ? 'vp9' : 'h264';
    const produced = await compress(source, { format, codec });
    const found = probed(produced);
    expect(found.subtitles.map((stream) => stream.codec_name)).toEqual([subtitles]);
    expect(found.attachments).toHaveLength(attachments);
    expect(found.audio).toHaveLength(2);
    expect(await chaptersOf(produced)).toEqual(['First', 'Second']);
    expect(produced.warnings).toEqual(attachments === 1 ? [] : ['An attached file was dropped.']);
  });

  it('are kept when streams are copied', async () => {
    const produced = await convert(source, 'mp4');
    const found = probed(produced);
    expect(found.video?.codec_name).toBe('h264');
    expect(found.subtitles).toHaveLength(1);
    expect(await chaptersOf(produced)).toEqual(['First', 'Second']);
    const again = await convert({ ...produced, name: 'copied' }, 'mkv');
    expect(await chaptersOf(again)).toEqual(['First', 'Second']);
    expect(again.warnings).toEqual([]);
  });

  it('count for the duration when they are longer than the video', async () => {
    const long = ['-f', 'lavfi', '-i', 'sine=duration=4'];
    const inputs = [...VIDEO_SOURCE, ...AUDIO_SOURCE, ...long];
    const maps = ['-map', '0:v', '-map', '1:a', '-map', '2:a'];
    const [whole, short] = [
      await drawn({ format: 'mkv', name: 'long-second', args: [...inputs, ...maps, ...X264, '-c:a', 'aac'] }),
      await drawn({
        format: 'mkv',
        name: 'short-second',
        args: [...inputs, ...maps, ...X264, '-c:a', 'aac', '-t', '1'],
      }),
    ];
    const work = await workOn({ ...whole, operation: 'convert', options: { convert: { to: 'mkv' } } });
    const facts = await videoHandler.inspect(engineDeps(), work);
    expect(facts.durationSeconds).toBeCloseTo(4, 0);
    const lacking = await videoHandler.inspect(engineDeps(), await workOn({ ...short, operation: 'convert' }));
    const produced = { path: short.path, format: 'mkv', facts: lacking, warnings: [] } as const;
    await expect(videoHandler.verify(engineDeps(), work, facts, produced)).rejects.toThrow(/the output lasts/);
  });

  it('include the cover art of an mp4', async () => {
    const covered = await drawn({
      format: 'mp4',
      name: 'covered',
      args: [
        ...VIDEO_SOURCE,
        '-f',
        'lavfi',
        '-i',
        'color=red:size=64x64:duration=0.04',
        '-map',
        '0:v',
        '-map',
        '1:v',
        ...X264,
        '-crf',
        '5',
        '-c:v:1',
        'mjpeg',
        '-pix_fmt:v:1',
        'yuvj420p',
        '-disposition:v:1',
        'attached_pic',
      ],
    });
    const produced = await compress(covered);
    expect(produced.facts).toMatchObject({ width: 160, height: 90, videoCodec: 'h265' });
    expect(probed(produced).cover?.codec_name).toBe('mjpeg');
    expect((await compress(covered, { format: 'mkv' })).warnings).toEqual(['A cover image was dropped.']);
  });

  it('are named in a warning when they are dropped, such as a timecode track', async () => {
    const timed = await drawn({
      format: 'mov',
      name: 'timed',
      args: [...VIDEO_SOURCE, ...X264, '-crf', '5', '-timecode', '01:00:00:00'],
    });
    expect((await compress(timed, { format: 'mkv' })).warnings).toEqual(['A data track was dropped.']);
    for (const to of ['mov', 'mp4']) {
      const kept = await convert(timed, to);
      expect([probed(kept).data, kept.warnings]).toEqual([1, []]);
    }
  });

  it('are dropped when they have no packets', async () => {
    const small = ['-f', 'lavfi', '-i', 'testsrc2=size=80x44:rate=25:duration=1'];
    const empty = [
      '-filter_complex',
      '[0:v]select=0[video];[2:a]aselect=0[audio]',
      '-map',
      '[video]',
      '-map',
      '[audio]',
    ];
    const source = await drawn({
      format: 'wmv',
      args: [
        ...small,
        ...VIDEO_SOURCE,
        ...AUDIO_SOURCE,
        ...empty,
        '-map',
        '1:v',
        '-map',
        '2:a',
        '-c:v',
        'wmv2',
        '-c:a',
        'wmav2',
      ],
    });
    const produced = await convert(source, 'mp4');
    expect(produced.warnings).toEqual([]);
    const { video, audio } = probed(produced);
    expect(video).toMatchObject({ width: 160, height: 90 });
    expect(audio).toHaveLength(1);
  });
});

describe('transparency', () => {
  const [CLEAR, SEEN] = ['crop=2:2:0:0', 'crop=2:2:158:88'];
  let source: Fixture;

  beforeAll(async () => {
    const half =
      "color=white:size=160x90:rate=25:duration=1,format=yuva420p,geq=lum='lum(X,Y)':cb=128:cr=128:a='if(gt(X,79),255,0)'";
    source = await drawn({
      format: 'webm',
      name: 'clear',
      args: [
        '-f',
        'lavfi',
        '-i',
        half,
        '-c:v',
        'libvpx-vp9',
        '-auto-alt-ref',
        '0',
        '-pix_fmt',
        'yuva420p',
        '-crf',
        '10',
      ],
    });
  });

  it.each(['webm', 'mkv'] as const)('is kept in %s with VP9', async (format) => {
    const produced = await compress(source, { format, codec: 'vp9', quality: 'high' });
    const opacity = async (where: string): Promise<number> =>
      (await pixelOf(produced, where, ['-c:v', 'libvpx-vp9']))[3] ?? -1;
    expect(await opacity(CLEAR)).toBeLessThan(20);
    expect(await opacity(SEEN)).toBeGreaterThan(235);
    expect(produced.warnings).toEqual([]);
  });

  it('is lost with a warning when VP9 is copied into an mp4', async () => {
    expect((await convert(source, 'mp4')).warnings).toEqual([expect.stringContaining('Transparency')]);
  });

  it('becomes black in other outputs, with a warning', async () => {
    const produced = await compress(source, { codec: 'h264' });
    expect(produced.warnings).toEqual([expect.stringContaining('Transparency')]);
    expect(Math.max(...(await pixelOf(produced, CLEAR)).slice(0, 3))).toBeLessThan(30);
    expect(Math.min(...(await pixelOf(produced, SEEN)).slice(0, 3))).toBeGreaterThan(220);
  });

  it('is kept when ProRes is encoded as VP9', async () => {
    const half = 'color=white:size=160x90:rate=25:duration=1,format=yuva444p10le';
    const mov = await drawn({
      format: 'mov',
      name: 'prores',
      args: ['-f', 'lavfi', '-i', half, '-c:v', 'prores_ks', '-profile:v', '4444'],
    });
    const produced = await convert(mov, 'webm');
    expect(probed(produced).video?.tags['alpha_mode'] ?? probed(produced).video?.tags['ALPHA_MODE']).toBe('1');
  });
});

describe('the video stream', () => {
  it('of an interlaced file is deinterlaced', async () => {
    const source = await drawn({
      format: 'mpg',
      name: 'interlaced',
      args: [
        '-f',
        'lavfi',
        '-i',
        'testsrc2=size=320x240:rate=50:duration=1',
        '-vf',
        'tinterlace=interleave_top,fieldorder=tff',
        '-c:v',
        'mpeg2video',
        '-flags',
        '+ildct+ilme',
        '-q:v',
        '2',
        '-f',
        'vob',
      ],
    });
    expect(
      probed({ facts: await handler.inspect(engineDeps(), await workOn({ ...source, operation: 'compress' })) }).video
        ?.field_order,
    ).toMatch(/^(?:tt|tb)$/);
    const produced = await compress(source, { codec: 'h264' });
    expect(probed(produced).video?.field_order).toMatch(/^(?:progressive|unknown|)$/);
    expect(produced.facts.durationSeconds).toBeCloseTo(1, 0);
  });

  it('of HDR10 keeps its mastering display metadata', async () => {
    const display = 'G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)';
    const source = await drawn({
      format: 'mkv',
      name: 'hdr10',
      args: [
        ...VIDEO_SOURCE,
        ...X265_DEEP,
        '-crf',
        '5',
        '-x265-params',
        `log-level=error:hdr10=1:repeat-headers=1:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:master-display=${display}:max-cll=1000,400`,
      ],
    });
    const produced = await compress(source);
    expect(probed(produced).hdr).toEqual({ masterDisplay: display, maxLight: '1000,400' });
    expect(probed(produced).video).toMatchObject({ pix_fmt: 'yuv420p10le', color_transfer: 'smpte2084' });
  });

  it.each(['mkv', 'mov'] as const)('that is shown upside down stays so in %s', async (to) => {
    const half = 'color=black:size=160x90:rate=25:duration=1,drawbox=y=0:h=45:color=white:t=fill';
    const source = await drawn({ format: 'mp4', name: `flipped-${to}`, args: ['-f', 'lavfi', '-i', half, ...X264] });
    const bytes = await readFile(source.path);
    // ISO/IEC 14496-12, 8.3.2: offset of the matrix; its fifth number is the vertical scale.
    bytes.writeInt32BE(-65_536, bytes.indexOf('tkhd') + 'tkhd'.length + 40 + 16);
    await writeFile(source.path, bytes);
    const produced = await convert(source, to);
    const brightness = async (where: string): Promise<number> => (await pixelOf(produced, where))[0] ?? -1;
    expect(await brightness('crop=2:2:0:0')).toBeLessThan(30);
    expect(await brightness('crop=2:2:0:88')).toBeGreaterThan(220);
  });

  it('with pixels that are not square keeps its aspect ratio when it is scaled', async () => {
    const source = await drawn({
      format: 'mp4',
      name: 'wide-dots',
      args: ['-f', 'lavfi', '-i', 'testsrc2=size=1440x1080:rate=5:duration=1', '-vf', 'setsar=4/3', ...X264],
    });
    const produced = await compress(source, { resolution: 854, codec: 'h264' });
    const { width = 0, height = 0, sample_aspect_ratio: ratio = '' } = probed(produced).video ?? {};
    const [above = 0, below = 1] = ratio.split(':').map(Number);
    expect((width * above) / below / height).toBeCloseTo(16 / 9, 1);
  });
});

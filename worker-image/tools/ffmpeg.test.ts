import { promisify } from 'node:util';
import ffmpegCommand from 'fluent-ffmpeg';
import { describe, expect, it } from 'vitest';
import { FORMAT_NAMES } from '#crds/catalogue/formats.ts';
import {
  ffmpegArguments,
  ffprobeArguments,
  isDemuxable,
  progressSeconds,
  type MuxableFormat,
} from '#worker-image/tools/ffmpeg.ts';

const MUXABLE = [
  'mp4',
  'mov',
  'mkv',
  'webm',
  'm4a',
  'alac',
  'mp3',
  'aac',
  'wav',
  'flac',
  'ogg',
  'opus',
] as const satisfies readonly MuxableFormat[];
const GUARD = '-protocol_whitelist file,pipe -format_whitelist mov -max_streams 64 -f mov';

describe('command lines of ffmpeg and ffprobe', () => {
  it('open the input with one demuxer, and files only', () => {
    const input = { path: '/job/in put.mp4', format: 'mp4' } as const;
    const args = ffmpegArguments({
      input,
      outputOptions: ['-vf', 'scale=2:2, setsar=1'],
      output: { path: '/job/out.mkv', format: 'mkv' },
    });
    expect(args.join(' ')).toContain(`${GUARD} -i file:/job/in put.mp4`);
    // A value with a blank stays one argument.
    expect(args).toContain('scale=2:2, setsar=1');
    expect(args.slice(-4)).toEqual(['-f', 'matroska', '-y', 'file:/job/out.mkv']);
    expect(ffprobeArguments(input, 'format=duration').join(' ')).toContain(GUARD);
  });

  it('allow the two MPEG demuxers, between which the content decides, and no other', () => {
    const args = ffprobeArguments({ path: '/job/in.mpg', format: 'mpg' }, 'format=duration').join(' ');
    expect(args).toContain('-format_whitelist mpeg,mpegvideo');
    expect(args).not.toContain('-f mpeg');
  });

  it('name demuxers and muxers that the installed ffmpeg has', async () => {
    const installed = await promisify(ffmpegCommand.getAvailableFormats.bind(ffmpegCommand))();
    const demuxers = FORMAT_NAMES.filter(isDemuxable).flatMap((format) => {
      const args = ffprobeArguments({ path: '/job/in', format }, '');
      return (args[args.indexOf('-format_whitelist') + 1] ?? '').split(',');
    });
    const muxers = MUXABLE.map((format) => {
      const input = { path: '/job/in', format: 'mp4' } as const;
      return ffmpegArguments({ input, outputOptions: [], output: { path: '/job/out', format } }).at(-3) ?? '';
    });
    expect(new Set(demuxers).size).toBeGreaterThan(10);
    expect(demuxers.filter((name) => installed[name]?.canDemux !== true)).toEqual([]);
    expect(muxers.filter((name) => installed[name]?.canMux !== true)).toEqual([]);
  });

  it('are rejected for a format that is not media', () => {
    expect(() => ffprobeArguments({ path: '/job/in.pdf', format: 'pdf' }, '')).toThrow('no demuxer for pdf');
  });
});

describe('progressSeconds', () => {
  it.each([
    ['out_time_us=1500000', 1.5],
    ['out_time_us=N/A', null],
    ['out_time_ms=1500000', null],
    ['progress=end', null],
  ])('returns the seconds of %s, or null', (line, seconds) => expect(progressSeconds(line)).toBe(seconds));
});

import { describe, expect, it } from 'vitest';
import { ffmpegArguments, ffprobeArguments, progressSeconds } from '#worker-image/tools/ffmpeg.ts';

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

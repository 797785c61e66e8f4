import { describe, expect, it } from 'vitest';
import type { Probe } from '#worker-image/engine/media/probe.ts';
import type { MediaStream } from '#worker-image/engine/media/probe-schema.ts';
import { extrasOf, withoutExtras } from '#worker-image/engine/media/video-extras.ts';

const stream = (index: number, codec: string): MediaStream =>
  ({ index, codec_name: codec, width: 10, height: 10 }) as MediaStream;

function probeOf(over: Partial<Probe> = {}): Probe {
  return {
    subtitles: [],
    attachments: [],
    cover: null,
    covers: over.cover == null ? 0 : 1,
    moreVideos: 0,
    data: 0,
    timecodes: 0,
    video: null,
    ...over,
  } as Probe;
}

describe('extrasOf', () => {
  it.each([
    ['subrip', 'mp4', 'mov_text'],
    ['subrip', 'mkv', 'copy'],
    ['ass', 'webm', 'webvtt'],
    ['hdmv_pgs_subtitle', 'mkv', 'copy'],
  ] as const)('keeps subtitles of %s in %s as %s', (codec, format, written) => {
    const { options, warnings } = extrasOf(probeOf({ subtitles: [stream(4, codec)] }), format);
    expect([options, warnings]).toEqual([['-map', '0:4', '-c:s:0', written], []]);
  });

  it.each<readonly [string, Partial<Probe>, 'mp4' | 'mkv' | 'mov', number]>([
    ['subtitles that are images', { subtitles: [stream(4, 'dvd_subtitle')] }, 'mp4', 1],
    ['attached files', { attachments: [stream(5, 'ttf'), stream(6, 'ttf')] }, 'mp4', 1],
    ['a cover', { cover: stream(7, 'mjpeg') }, 'mkv', 1],
    ['a cover of another codec', { cover: stream(7, 'bmp') }, 'mp4', 1],
    ['a cover without a size', { cover: { ...stream(7, 'mjpeg'), width: 0 } }, 'mp4', 1],
    ['a second cover', { cover: stream(7, 'png'), covers: 2 }, 'mp4', 1],
    ['further videos', { moreVideos: 2 }, 'mkv', 1],
    ['timecodes that MP4 keeps', { data: 1, timecodes: 1 }, 'mp4', 0],
    ['data', { data: 1 }, 'mp4', 1],
    ['timecodes that QuickTime keeps', { data: 1, timecodes: 1 }, 'mov', 0],
    ['other data in QuickTime', { data: 2, timecodes: 1 }, 'mov', 1],
    ['attached files that Matroska keeps', { attachments: [stream(5, 'ttf')] }, 'mkv', 0],
    ['a cover that MP4 keeps', { cover: stream(7, 'png') }, 'mp4', 0],
  ])('for %s has a warning if they are dropped', (_what, over, format, warnings) => {
    expect(extrasOf(probeOf(over), format).warnings).toHaveLength(warnings);
  });

  it('keeps 32 subtitles at most, and names the number of the others', () => {
    const subtitles = Array.from({ length: 35 }, (_, index) => stream(index, 'subrip'));
    const { options, warnings } = extrasOf(probeOf({ subtitles }), 'mkv');
    expect(options.filter((option) => option === '-map')).toHaveLength(32);
    expect(warnings).toEqual([expect.stringContaining('3 subtitle tracks')]);
  });
});

describe('withoutExtras', () => {
  it('drops all without options', () => {
    expect(withoutExtras(probeOf({ subtitles: [stream(1, 'subrip')], cover: stream(2, 'png') })).options).toEqual([]);
  });
});

/**
 * What a video holds beside picture and sound: subtitles, cover, attached files, data. Kept where the container
 * takes it, else named in a warning. Pure.
 */
import type { MediaStream, Probe } from '#worker-image/engine/media/probe.ts';
import type { VideoOutput } from '#worker-image/engine/media/video-output.ts';

export interface Extras {
  readonly options: readonly string[];
  readonly warnings: readonly string[];
}

const MAX_SUBTITLES = 32;
const TEXT: ReadonlySet<string> = new Set(['subrip', 'srt', 'ass', 'ssa', 'webvtt', 'mov_text', 'text']);
const PICTURES: ReadonlySet<string> = new Set(['dvd_subtitle', 'hdmv_pgs_subtitle', 'dvb_subtitle']);

/** What text subtitles become where they are not taken as they are. */
const TEXT_CODEC: Readonly<Record<VideoOutput, string>> = {
  mp4: 'mov_text',
  mov: 'mov_text',
  webm: 'webvtt',
  mkv: 'subrip',
};

/** Taken as they are. */
const COPYABLE: Readonly<Record<VideoOutput, ReadonlySet<string>>> = {
  mp4: new Set(['mov_text']),
  mov: new Set(['mov_text']),
  webm: new Set(['webvtt']),
  mkv: new Set(['subrip', 'ass', 'ssa', 'webvtt', ...PICTURES]),
};

export function extrasOf(probe: Probe, format: VideoOutput): Extras {
  const subtitles = probe.subtitles.flatMap((stream) => subtitleOf(stream, format)).slice(0, MAX_SUBTITLES);
  const attachments = format === 'mkv' ? probe.attachments : [];
  const cover = coverOf(probe, format);
  return {
    options: [
      ...subtitles.flatMap(({ index, codec }, position) => ['-map', `0:${index}`, `-c:s:${position}`, codec]),
      ...attachments.flatMap(({ index }, position) => ['-map', `0:${index}`, `-c:t:${position}`, 'copy']),
      ...(cover === null ? [] : ['-map', `0:${cover.index}`, '-c:v:1', 'copy', '-disposition:v:1', 'attached_pic']),
    ],
    warnings: [
      ...lost(probe.subtitles.length - subtitles.length, 'subtitle track'),
      ...lost(probe.attachments.length - attachments.length, 'attached file'),
      ...lost(probe.cover === null || cover !== null ? 0 : 1, 'cover picture'),
      ...lost(probe.moreVideos, 'further video track'),
      ...lost(format === 'mov' ? 0 : probe.data, 'data track'),
    ],
  };
}

/** The file without them: one damaged subtitle track must not cost the video. */
export function withoutExtras(probe: Probe): Extras {
  return extrasOf({ ...probe, subtitles: [], attachments: [], cover: null }, 'mp4');
}

function subtitleOf({ index, codec_name: name }: MediaStream, format: VideoOutput): { index: number; codec: string }[] {
  if (COPYABLE[format].has(name)) return [{ index, codec: 'copy' }];
  return TEXT.has(name) ? [{ index, codec: TEXT_CODEC[format] }] : [];
}

function coverOf({ cover }: Probe, format: VideoOutput): MediaStream | null {
  const taken = format === 'mp4' && cover !== null && /^(?:mjpeg|png)$/.test(cover.codec_name);
  return taken ? cover : null;
}

function lost(count: number, what: string): string[] {
  if (count <= 0) return [];
  return [
    count === 1 ? `${/^[aeiou]/.test(what) ? 'An' : 'A'} ${what} was left out.` : `${count} ${what}s were left out.`,
  ];
}

/**
 * Subtitles, cover art, attached files and data of a video: kept where the container supports them, else named in a
 * warning. Pure.
 */
import type { Probe } from '#worker-image/engine/media/probe.ts';
import type { MediaStream } from '#worker-image/engine/media/probe-schema.ts';
import { isQuickTime, type VideoOutput } from '#worker-image/engine/media/video-output.ts';

/** ffmpeg's options that keep extras, and the warnings about those that are dropped. */
export interface ExtrasPlan {
  readonly options: readonly string[];
  readonly warnings: readonly string[];
}

const MAX_SUBTITLES = 32;
const TEXT_SUBTITLES: ReadonlySet<string> = new Set(['subrip', 'srt', 'ass', 'ssa', 'webvtt', 'mov_text', 'text']);
const BITMAP_SUBTITLES: ReadonlySet<string> = new Set(['dvd_subtitle', 'hdmv_pgs_subtitle', 'dvb_subtitle']);

/** Codecs that text subtitles are converted to, by container. */
const TEXT_CODEC: Readonly<Record<VideoOutput, string>> = {
  mp4: 'mov_text',
  mov: 'mov_text',
  webm: 'webvtt',
  mkv: 'subrip',
};

/** Subtitle codecs that are copied into each container. */
const COPYABLE: Readonly<Record<VideoOutput, ReadonlySet<string>>> = {
  mp4: new Set(['mov_text']),
  mov: new Set(['mov_text']),
  webm: new Set(['webvtt']),
  mkv: new Set(['subrip', 'ass', 'ssa', 'webvtt', ...BITMAP_SUBTITLES]),
};

export function extrasOf(probe: Probe, format: VideoOutput): ExtrasPlan {
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
      ...droppedWarning(probe.subtitles.length - subtitles.length, 'subtitle track'),
      ...droppedWarning(probe.attachments.length - attachments.length, 'attached file'),
      ...droppedWarning(probe.covers - (cover === null ? 0 : 1), 'cover image'),
      ...droppedWarning(probe.moreVideos, 'further video track'),
      ...droppedWarning(isQuickTime(format) ? probe.data - probe.timecodes : probe.data, 'data track'),
      ...(format === 'mov' && isSpherical(probe) ? [SPHERICAL_WARNING] : []),
    ],
  };
}

/** Returns the plan that drops all extras: a damaged subtitle track must not fail the video. */
export function withoutExtras(probe: Probe): ExtrasPlan {
  return extrasOf({ ...probe, subtitles: [], attachments: [], cover: null, covers: 0 }, 'mp4');
}

function subtitleOf({ index, codec_name: name }: MediaStream, format: VideoOutput): { index: number; codec: string }[] {
  if (COPYABLE[format].has(name)) return [{ index, codec: 'copy' }];
  return TEXT_SUBTITLES.has(name) ? [{ index, codec: TEXT_CODEC[format] }] : [];
}

/** Returns whether a cover image is what it says, as far as its header tells: ffmpeg writes none without a size. */
export function isReadableCover({ codec_name: name, width, height }: MediaStream): boolean {
  return /^(?:mjpeg|png)$/.test(name) && width > 0 && height > 0;
}

function coverOf({ cover }: Probe, format: VideoOutput): MediaStream | null {
  const isKept = format === 'mp4' && cover !== null && isReadableCover(cover);
  return isKept ? cover : null;
}

const SPHERICAL_WARNING =
  'The projection of the 360-degree video was dropped, because mov cannot contain it: players show the video flat. mp4, mkv and webm keep it.';

/** Returns whether the video declares a projection of all directions. */
export function isSpherical({ video }: Probe): boolean {
  return video?.side_data_list?.some((data) => data.side_data_type === 'Spherical Mapping') === true;
}

/** Returns the warning for a number of dropped tracks or files; none for 0 or less. */
export function droppedWarning(count: number, what: string, whats = `${what}s`): string[] {
  if (count <= 0) return [];
  return [
    count === 1 ? `${/^[aeiou]/.test(what) ? 'An' : 'A'} ${what} was dropped.` : `${count} ${whats} were dropped.`,
  ];
}

import type { MuxableFormat } from '#worker-image/tools/ffmpeg.ts';

export type VideoOutput = Extract<MuxableFormat, 'mp4' | 'mov' | 'webm' | 'mkv'>;

/** Only these say of a track how it is turned and what of it is cut off; the others need that done to the picture. */
export function isQuickTime(format: VideoOutput): boolean {
  return format === 'mp4' || format === 'mov';
}

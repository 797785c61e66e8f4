import type { MuxableFormat } from '#worker-image/tools/ffmpeg.ts';

export type VideoOutput = Extract<MuxableFormat, 'mp4' | 'mov' | 'webm' | 'mkv'>;

/** Returns whether the container stores rotation and edit lists; in others they are applied to the frames. */
export function isQuickTime(format: VideoOutput): boolean {
  return format === 'mp4' || format === 'mov';
}

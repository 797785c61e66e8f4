import { z } from 'zod';

export const VIDEO_TIERS = ['tiny', 'low', 'balanced', 'high', 'maximum', 'web'] as const;
export const VIDEO_CODECS = ['h265', 'h264', 'vp9'] as const;
/** Long side of the frame, in pixels. */
export const VIDEO_RESOLUTIONS = ['original', 3840, 1920, 1280, 854] as const;

/** Options under `video`: docs/reference/options.md#video. */
export const videoOptions = z.strictObject({
  format: z.enum(['mp4', 'mov', 'webm', 'mkv']).optional().meta({ description: 'Default `mp4`.' }),
  codec: z.enum(VIDEO_CODECS).optional().meta({ description: 'Default `h265`; `vp9` when the format is webm.' }),
  quality: z.enum(VIDEO_TIERS).optional().meta({ description: 'Default `balanced`.' }),
  resolution: z
    .literal([...VIDEO_RESOLUTIONS])
    .optional()
    .meta({ description: 'Long side in pixels, default `original`; a video is never enlarged.' }),
});

import { z } from 'zod';
import { FORMAT_NAMES, KINDS, type Format } from '#crds/formats.ts';
import { VIDEO_CODECS } from '#crds/options/video.ts';

/** What the engine says of one processed file: the interface's result object without the job's own links. */
export const engineResultSchema = z.object({
  kind: z.enum(KINDS),
  input_format: z.enum(FORMAT_NAMES as [Format, ...Format[]]),
  output_format: z.enum(FORMAT_NAMES as [Format, ...Format[]]),
  /** Bytes. */
  original_size: z.int(),
  /** Bytes. */
  output_size: z.int(),
  /** One decimal; negative when the output is larger. */
  savings_percent: z.number(),
  kept_original: z.boolean(),
  increased: z.boolean(),
  /** Pixels of the output as shown (orientation applied); images and video, else null. */
  width: z.int().nullable(),
  height: z.int().nullable(),
  /** Pages of the input PDF; null for other kinds. */
  pages: z.int().nullable(),
  duration_seconds: z.number().nullable(),
  /** Codec of the output's video stream: one of ours, or ffmpeg's name after a stream copy. */
  video_codec: z.union([z.enum(VIDEO_CODECS), z.string()]).nullable(),
  warnings: z.array(z.string()),
});
export type EngineResult = z.infer<typeof engineResultSchema>;

/** Spec: Result object. The two links are set for jobs only. */
export const resultSchema = engineResultSchema
  .extend({
    download_url: z.string().nullable().optional(),
    download_expires_at: z.string().nullable().optional(),
  })
  .meta({ id: 'Result' });

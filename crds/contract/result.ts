import { z } from 'zod';
import { FORMAT_NAMES, KINDS, type Format } from '#crds/catalogue/formats.ts';
import { VIDEO_CODECS } from '#crds/catalogue/options/video.ts';

/** Engine's result of one file: the interface's result object without the links of a job. */
export const engineResultSchema = z.object({
  kind: z.enum(KINDS),
  input_format: z.enum(FORMAT_NAMES as [Format, ...Format[]]),
  output_format: z.enum(FORMAT_NAMES as [Format, ...Format[]]),
  /** In bytes. */
  original_size: z.int(),
  /** In bytes. */
  output_size: z.int(),
  /** In percent, with one decimal; negative when the output is larger. */
  savings_percent: z.number(),
  kept_original: z.boolean(),
  increased: z.boolean(),
  /** Width of the output in pixels, with its orientation applied; null except for images and video. */
  width: z.int().nullable(),
  height: z.int().nullable(),
  /** Pages of the input PDF; null for other kinds. */
  pages: z.int().nullable(),
  duration_seconds: z.number().nullable(),
  /** Codec of the output's video stream: one of `VIDEO_CODECS`, or ffmpeg's name after a stream copy. */
  video_codec: z.union([z.enum(VIDEO_CODECS), z.string()]).nullable(),
  warnings: z.array(z.string()),
});
export type EngineResult = z.infer<typeof engineResultSchema>;

/** Result object of the interface: docs/reference/direct.md#result-object. The two links are set for jobs only. */
export const resultSchema = engineResultSchema
  .extend({
    download_url: z.string().nullable().optional(),
    download_expires_at: z.string().nullable().optional(),
  })
  .meta({ id: 'Result' });

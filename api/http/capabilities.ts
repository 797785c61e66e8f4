import type { ApiReply, Endpoint } from '#api/http/endpoint.ts';
import { STANDARD } from '#api/interface-version.ts';
import { CONVERT_TARGETS, DIRECT_KINDS, inputFormatsOf, OPERATION_KINDS, OPERATIONS } from '#crds/catalogue/formats.ts';
import { audioOptions } from '#crds/catalogue/options/audio.ts';
import { imageOptions, RESIZE_MODES, RESIZE_SIDE } from '#crds/catalogue/options/image.ts';
import { resolveOptions } from '#crds/catalogue/options/options.ts';
import { pdfOptions } from '#crds/catalogue/options/pdf.ts';
import { VIDEO_CODECS, VIDEO_RESOLUTIONS, videoOptions } from '#crds/catalogue/options/video.ts';
import { PLAN_NAMES, PLANS } from '#crds/catalogue/plans.ts';
import { z } from 'zod';

const MAX_SYNC_BYTES = PLANS.payg.maxSyncBytes;

const names = z.array(z.string());
const count = z.int();

const capabilitiesSchema = z
  .object({
    object: z.literal('capabilities'),
    standard: z.string(),
    operations: names,
    sync: z.object({ max_bytes: count, kinds: names }),
    compress: z.object({
      image: z.object({
        inputs: names,
        formats: names,
        quality: z.object({ min: count, max: count, default: count }),
        resize: z.object({ modes: names, default: z.object({ mode: z.string(), width: count, height: count }) }),
      }),
      pdf: z.object({ quality: names, default: z.string() }),
      video: z.object({
        inputs: names,
        formats: names,
        codecs: names,
        quality: names,
        resolution: z.array(z.union([z.literal('original'), count])),
      }),
      audio: z.object({ inputs: names, formats: names, quality: names }),
    }),
    convert: z.record(z.string(), names),
    strip_metadata: z.object({ kinds: names }),
    plans: z.record(
      z.string(),
      z.object({
        requests_per_second: count,
        concurrent_jobs: count,
        max_sync_bytes: count,
        max_async_bytes: count,
        max_video_seconds: count,
      }),
    ),
  })
  .meta({ id: 'Capabilities' });

/** `GET /v1/capabilities` (docs/reference/basics.md#capabilities). */
export const capabilitiesEndpoint: Endpoint = {
  method: 'GET',
  path: '/v1/capabilities',
  summary: 'List operations, formats, options and plans.',
  lane: 'public',
  responses: {
    200: {
      description: 'The capabilities; the same for every caller.',
      schema: capabilitiesSchema,
      headers: { 'Cache-Control': ['string', 'public, max-age=300'] },
    },
  },
  errors: [],
  handle: async (): Promise<ApiReply> => ({
    status: 200,
    headers: { 'Cache-Control': 'public, max-age=300' },
    body: CAPABILITIES,
  }),
};

const defaults = resolveOptions(new Map());

const CAPABILITIES = {
  object: 'capabilities',
  standard: STANDARD,
  operations: OPERATIONS,
  sync: { max_bytes: MAX_SYNC_BYTES, kinds: DIRECT_KINDS },
  compress: {
    image: {
      inputs: inputFormatsOf('image'),
      formats: imageOptions.shape.format.unwrap().options,
      quality: { min: 0, max: 100, default: defaults.image.quality },
      resize: {
        modes: RESIZE_MODES,
        default: { mode: 'fit', width: RESIZE_SIDE.default, height: RESIZE_SIDE.default },
      },
    },
    pdf: { quality: pdfOptions.shape.quality.unwrap().options, default: defaults.pdf.quality },
    video: {
      inputs: inputFormatsOf('video'),
      formats: videoOptions.shape.format.unwrap().options,
      codecs: VIDEO_CODECS,
      quality: videoOptions.shape.quality.unwrap().options,
      resolution: VIDEO_RESOLUTIONS,
    },
    audio: {
      inputs: inputFormatsOf('audio'),
      formats: audioOptions.shape.format.unwrap().options,
      quality: audioOptions.shape.quality.unwrap().options,
    },
  },
  convert: CONVERT_TARGETS,
  strip_metadata: { kinds: OPERATION_KINDS.strip_metadata },
  plans: Object.fromEntries(
    PLAN_NAMES.filter((name) => name !== 'none').map((name) => {
      const plan = PLANS[name];
      return [
        name,
        {
          requests_per_second: plan.requestsPerSecond,
          concurrent_jobs: plan.concurrentJobs,
          max_sync_bytes: plan.maxSyncBytes,
          max_async_bytes: plan.maxAsyncBytes,
          max_video_seconds: plan.maxMediaSeconds,
        },
      ];
    }),
  ),
};

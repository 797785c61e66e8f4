/** Video: compressed and converted by ffmpeg. Spec: Capabilities / compress.video, convert. */
import { MediaError } from '#crds/media-error.ts';
import {
  NO_FACTS,
  type EngineDeps,
  type Facts,
  type KindHandler,
  type Produced,
  type Work,
} from '#worker-image/engine/handler.ts';
import { compareSeconds, encode } from '#worker-image/engine/media/encode.ts';
import { withWarning } from '#worker-image/engine/media/missing-end.ts';
import { mediaOf, playingSeconds, probe, type Probe } from '#worker-image/engine/media/probe.ts';
import type { VideoOutput } from '#worker-image/engine/media/video-output.ts';
import {
  planCompress,
  planConvert,
  planReencode,
  shownSize,
  videoTrackOf,
  type VideoPlan,
} from '#worker-image/engine/media/video-plan.ts';
import { unsupportedTarget } from '#worker-image/engine/unsupported-target.ts';

export const videoHandler: KindHandler = {
  inspect: async (deps, work) => {
    const source = await probe(deps, work, work.input);
    return withWarning(work, source, factsOf(source));
  },

  compress: (deps, work, facts) => produce(deps, work, planCompress(mediaOf(facts), work.options.video), facts),

  convert: async (deps, work, facts) => {
    const source = mediaOf(facts);
    const target = targetOf(work);
    const plan = planConvert(source, target);
    if (!plan.copies) return produce(deps, work, plan, facts);
    return (await tryCopy(deps, work, plan, facts)) ?? produce(deps, work, planReencode(source, target), facts);
  },

  verify: (_deps, _work, input, { facts }) => {
    const { width, height } = shownSize(mediaOf(facts));
    if (width > (input.width ?? 0) + 1 || height > (input.height ?? 0) + 1) {
      throw new Error(`the output is ${width}x${height}, larger than the input's ${input.width}x${input.height}`);
    }
    compareSeconds(input.durationSeconds, facts.durationSeconds);
    return Promise.resolve();
  },
};

function factsOf(source: Probe): Facts {
  const video = videoTrackOf(source);
  return {
    ...NO_FACTS,
    ...shownSize(source),
    durationSeconds: playingSeconds(source, [video, source.audio[0]]),
    videoCodec: video.codec_name === 'hevc' ? 'h265' : video.codec_name,
    media: source,
  };
}

/** Once more without subtitles and other extras when it fails with them. */
async function produce(deps: EngineDeps, work: Work, plan: VideoPlan, facts: Facts): Promise<Produced> {
  if (plan.bare === null) return run(deps, work, plan, facts);
  try {
    return await run(deps, work, plan, facts);
  } catch (error) {
    if (!isFailure(deps, error)) throw error;
    return run(deps, work, plan.bare, facts);
  }
}

async function run(deps: EngineDeps, work: Work, plan: VideoPlan, facts: Facts): Promise<Produced> {
  const { format, inputOptions, outputOptions, warnings } = plan;
  const name = `${plan.copies ? 'copied' : 'output'}${plan.bare === null ? '' : '-whole'}`;
  const path = await encode(deps, { work, format, inputOptions, outputOptions, seconds: facts.durationSeconds, name });
  return { path, format, facts: factsOf(await probe(deps, work, { path, format })), warnings };
}

/** A copy plays what the input plays: frames that an edit list hides would come back in containers without one. */
const COPY_TOLERANCE = 0.15;

/** Some streams cannot be copied for want of timestamps, which only the try shows; null then. */
async function tryCopy(deps: EngineDeps, work: Work, plan: VideoPlan, facts: Facts): Promise<Produced | null> {
  try {
    const produced = await produce(deps, work, plan, facts);
    compareSeconds(facts.durationSeconds, produced.facts.durationSeconds, COPY_TOLERANCE);
    return produced;
  } catch (error) {
    if (!isFailure(deps, error)) throw error;
    return null;
  }
}

/** True when the file is at fault, so that another way may work. */
function isFailure(deps: EngineDeps, error: unknown): boolean {
  return !deps.signal.aborted && !(error instanceof MediaError && error.code !== 'processing_failed');
}

function targetOf(work: Work): VideoOutput {
  const target = work.options.convert.to;
  if (target === 'mp4' || target === 'mov' || target === 'webm' || target === 'mkv') return target;
  throw unsupportedTarget('Video', target, ['mp4', 'mov', 'webm', 'mkv']);
}

/** The handler of video, which ffmpeg compresses and converts. */
import type { EngineDeps, KindHandler, Produced, Work } from '#worker-image/engine/handler.ts';
import { compareSeconds, encode, mayRetry } from '#worker-image/engine/media/run-encoder.ts';
import { requireEnd, withTruncationWarning } from '#worker-image/engine/media/detect-truncation.ts';
import { playingSeconds, probe, type MediaFacts, type Probe } from '#worker-image/engine/media/probe.ts';
import { keptTracks } from '#worker-image/engine/media/video-audio.ts';
import type { VideoOutput } from '#worker-image/engine/media/video-output.ts';
import {
  planCompress,
  planConvert,
  planReencode,
  shownSize,
  videoTrackOf,
  type VideoPlan,
} from '#worker-image/engine/media/video-plan.ts';
import { unsupportedTarget } from '#crds/contract/work-rules.ts';

interface VideoFacts extends MediaFacts {
  readonly width: number;
  readonly height: number;
  readonly videoCodec: string;
}

export const videoHandler: KindHandler<VideoFacts, VideoFacts> = {
  inspect: async (deps, work) => {
    const facts = factsOf(await probe(deps, work, work.input));
    return withTruncationWarning(work.input, facts);
  },

  compress: (deps, work, facts) => produce(deps, work, planCompress(facts.probe, work.options.video, deps), facts),

  convert: async (deps, work, facts) => {
    const source = facts.probe;
    const target = targetOf(work);
    const plan = planConvert(source, target, deps);
    if (!plan.copies) return produce(deps, work, plan, facts);
    return (await tryCopy(deps, work, plan, facts)) ?? produce(deps, work, planReencode(source, target, deps), facts);
  },

  verify: async (_deps, _work, input, produced) => {
    const { facts } = produced;
    const { width, height } = facts;
    if (width > input.width + 1 || height > input.height + 1) {
      throw new Error(`the output is ${width}x${height}, larger than the input's ${input.width}x${input.height}`);
    }
    compareSeconds(input.durationSeconds, facts.durationSeconds);
    await requireEnd(input, produced);
  },
};

function factsOf(source: Probe): VideoFacts {
  const video = videoTrackOf(source);
  return {
    ...shownSize(source),
    durationSeconds: playingSeconds(source, [video, ...keptTracks(source)]),
    videoCodec: video.codec_name === 'hevc' ? 'h265' : video.codec_name,
    probe: source,
  };
}

/** Runs the plan, and again without subtitles and other extras when it fails with them. */
async function produce(
  deps: EngineDeps,
  work: Work,
  plan: VideoPlan,
  facts: VideoFacts,
): Promise<Produced<VideoFacts>> {
  if (plan.bare === null) return run(deps, work, plan, facts);
  try {
    return await run(deps, work, plan, facts);
  } catch (error) {
    if (!mayRetry(deps, error)) throw error;
    return run(deps, work, plan.bare, facts);
  }
}

async function run(deps: EngineDeps, work: Work, plan: VideoPlan, facts: VideoFacts): Promise<Produced<VideoFacts>> {
  const { format, inputOptions, outputOptions, warnings } = plan;
  const name = `${plan.copies ? 'copied' : 'output'}${plan.bare === null ? '' : '-whole'}`;
  const seconds = facts.durationSeconds;
  const { path, written } = await encode(deps, { work, format, inputOptions, outputOptions, seconds, name });
  return { path, format, facts: factsOf(await probe(deps, work, { path, format })), warnings, written };
}

/** Tolerated difference of a copy's duration, in seconds. Without edit lists a container would play hidden frames. */
const COPY_TOLERANCE = 0.15;

/** Returns the copied streams; null when copying fails, for example for streams without timestamps. */
async function tryCopy(
  deps: EngineDeps,
  work: Work,
  plan: VideoPlan,
  facts: VideoFacts,
): Promise<Produced<VideoFacts> | null> {
  try {
    const produced = await produce(deps, work, plan, facts);
    compareSeconds(facts.durationSeconds, produced.facts.durationSeconds, COPY_TOLERANCE);
    return produced;
  } catch (error) {
    if (!mayRetry(deps, error)) throw error;
    return null;
  }
}

function targetOf(work: Work): VideoOutput {
  const target = work.options.convert.to;
  if (target === 'mp4' || target === 'mov' || target === 'webm' || target === 'mkv') return target;
  throw unsupportedTarget('video', target);
}

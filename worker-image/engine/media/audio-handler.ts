/** Audio: compressed and converted by ffmpeg. Spec: Capabilities / compress.audio, convert. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { extensionOf, type Format } from '#crds/formats.ts';
import {
  NO_FACTS,
  type EngineDeps,
  type Facts,
  type KindHandler,
  type Produced,
  type Work,
} from '#worker-image/engine/handler.ts';
import {
  audioTrackOf,
  isCopy,
  planCompress,
  planConvert,
  planStrip,
  withPauses,
  withSilentEnd,
  type AudioOutput,
  type AudioPlan,
} from '#worker-image/engine/media/audio-plan.ts';
import { compareSeconds, encode } from '#worker-image/engine/media/encode.ts';
import { withWarning } from '#worker-image/engine/media/missing-end.ts';
import { stripAsf } from '#worker-image/engine/media/strip-asf.ts';
import { stripFlac, stripFrames } from '#worker-image/engine/media/strip-tags.ts';
import { mediaOf, playingSeconds, probe, type Probe } from '#worker-image/engine/media/probe.ts';
import { unsupportedTarget } from '#worker-image/engine/unsupported-target.ts';

export const audioHandler: KindHandler = {
  inspect: async (deps, work) => {
    const source = await probe(deps, work, work.input);
    return withWarning(work, source, factsOf(source));
  },

  compress: (deps, work, facts) => {
    const plan = planCompress(withRate(mediaOf(facts), work, facts), work.options.audio);
    const strips = isCopy(plan) && plan.format === work.input.format && work.options.audio.strip_metadata;
    return strips ? stripTags(deps, work, facts) : produce(deps, work, plan, facts);
  },

  convert: (deps, work, facts) => produce(deps, work, planConvert(mediaOf(facts), targetOf(work)), facts),

  // Not an operation on sound of its own: a file that is kept must not keep its tags against the caller's wish.
  stripMetadata: stripTags,

  verify: (_deps, _work, input, { facts }) => {
    const tracks = mediaOf(facts).audio.length;
    if (tracks !== 1) throw new Error(`the output holds ${tracks} audio tracks`);
    compareSeconds(input.durationSeconds, facts.durationSeconds);
    return Promise.resolve();
  },
};

/** Formats whose tags are taken out of the bytes: ffmpeg would write other headers, or leave tags behind the last frame. */
const STRIPPERS: Readonly<Partial<Record<Format, (input: string, output: string) => Promise<void>>>> = {
  mp3: stripFrames,
  aac: stripFrames,
  flac: stripFlac,
  wma: async (input, output) => writeFile(output, stripAsf(await readFile(input))),
};

async function stripTags(deps: EngineDeps, work: Work, facts: Facts): Promise<Produced> {
  const { format } = work.input;
  const strip = STRIPPERS[format];
  if (strip === undefined) return produce(deps, work, planStrip(mediaOf(facts)), facts);
  const path = join(work.directory, `stripped.${extensionOf(format)}`);
  await strip(work.input.path, path);
  return { path, format, facts: factsOf(await probe(deps, work, { path, format })), warnings: [] };
}

function factsOf(source: Probe): Facts {
  return { ...NO_FACTS, durationSeconds: playingSeconds(source, [audioTrackOf(source)]), media: source };
}

/** Seconds by which a new file may be shorter for the rounding of its codec and container. */
const ROUNDING = 0.3;

/** Of less sound than this, in seconds, an encoder may write no packet. */
const SHORTEST = 0.02;

/** Once more with its pauses as silence when they are missing: some containers write none, ffmpeg just leaves them out. */
async function produce(deps: EngineDeps, work: Work, plan: AudioPlan, facts: Facts): Promise<Produced> {
  const produced = await run(deps, work, plan, facts).catch((error: unknown) => {
    const longer = (facts.durationSeconds ?? 0) < SHORTEST ? withSilentEnd(plan, SHORTEST) : null;
    if (longer === null) throw error;
    return run(deps, work, longer, facts);
  });
  const lacks = (facts.durationSeconds ?? 0) - (produced.facts.durationSeconds ?? 0);
  const filled = lacks > ROUNDING ? withPauses(plan) : null;
  return filled === null ? produced : run(deps, work, filled, facts);
}

async function run(deps: EngineDeps, work: Work, plan: AudioPlan, facts: Facts): Promise<Produced> {
  const { format, outputOptions, warnings } = plan;
  const path = await encode(deps, { work, format, outputOptions, seconds: facts.durationSeconds });
  return { path, format, facts: factsOf(await probe(deps, work, { path, format })), warnings };
}

/** ADTS and some Ogg files name no rate that is right; size over time always is. */
function withRate(source: Probe, work: Work, facts: Facts): Probe {
  if (source.cover !== null || facts.durationSeconds === null) return source;
  const bitRate = Math.round((work.input.size * 8) / facts.durationSeconds);
  return {
    ...source,
    bitRate,
    audio: source.audio.map((track) => (source.format === 'aac' ? { ...track, bit_rate: bitRate } : track)),
  };
}

function targetOf(work: Work): AudioOutput {
  const target = work.options.convert.to;
  if (target === 'm4a' || target === 'mp3' || target === 'wav' || target === 'flac' || target === 'ogg') return target;
  throw unsupportedTarget('Audio', target, ['m4a', 'mp3', 'wav', 'flac', 'ogg']);
}

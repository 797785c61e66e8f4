/** The handler of audio, which ffmpeg compresses and converts. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { extensionOf, type Format } from '#crds/catalogue/formats.ts';
import type { EngineDeps, KindHandler, Produced, Work } from '#worker-image/engine/handler.ts';
import {
  isCopy,
  planCompress,
  planConvert,
  planStrip,
  withPauses,
  withSilentEnd,
  type AudioPlan,
} from '#worker-image/engine/media/audio-plan.ts';
import type { AudioOutput } from '#worker-image/engine/media/audio-output.ts';
import { compareSeconds, encode, mayRetry } from '#worker-image/engine/media/run-encoder.ts';
import { requireEnd, withTruncationWarning } from '#worker-image/engine/media/detect-truncation.ts';
import { withFileReader } from '#worker-image/engine/containers/file-reader.ts';
import { verifyOggPages } from '#worker-image/engine/containers/ogg-checksum.ts';
import { stripAsf } from '#worker-image/engine/media/strip-asf.ts';
import { stripFlac, stripFrames } from '#worker-image/engine/media/strip-tags.ts';
import { audioTrackOf } from '#worker-image/engine/media/audio-track.ts';
import type { MediaStream } from '#worker-image/engine/media/probe-schema.ts';
import { playingSeconds, probe, type MediaFacts, type Probe } from '#worker-image/engine/media/probe.ts';
import { droppedWarning } from '#worker-image/engine/media/video-extras.ts';
import { unsupportedTarget } from '#crds/contract/work-rules.ts';

export const audioHandler: KindHandler<MediaFacts, MediaFacts> = {
  inspect: async (deps, work) => {
    const facts = factsOf(await probe(deps, work, work.input));
    return withTruncationWarning(work.input, facts);
  },

  compress: (deps, work, facts) => {
    const plan = planCompress(withRate(work, facts), work.options.audio);
    const strips = isCopy(plan) && plan.format === work.input.format && work.options.audio.strip_metadata;
    return strips ? stripTags(deps, work, facts) : produce(deps, work, plan, facts);
  },

  convert: (deps, work, facts) => produce(deps, work, planConvert(facts.probe, targetOf(work)), facts),

  // Not offered for audio by itself: a kept original must not keep tags that the caller wants removed.
  stripMetadata: stripTags,

  verify: async (_deps, _work, input, produced) => {
    const { facts } = produced;
    const tracks = facts.probe.audio.length;
    if (tracks !== 1) throw new Error(`the output has ${tracks} audio tracks`);
    compareSeconds(input.durationSeconds, facts.durationSeconds);
    await requireEnd(input, produced);
    if (facts.probe.format === 'ogg' || facts.probe.format === 'opus')
      await withFileReader(produced.path, verifyOggPages);
  },
};

/** Formats whose tags are removed without ffmpeg, which writes other headers, or keeps tags behind the last frame. */
const STRIPPERS: Readonly<Partial<Record<Format, (input: string, output: string) => Promise<void>>>> = {
  mp3: stripFrames,
  aac: stripFrames,
  flac: stripFlac,
  wma: async (input, output) => writeFile(output, stripAsf(await readFile(input))),
};

/** Ratio of the bit rate to that of the source for a chained file, which is encoded again to remove its tags. */
const CHAIN_RATE_RATIO = 0.85;

/** Returns the plan that removes the tags of a chained file, at a lower bit rate so that the result is not larger. */
function planChainStrip(source: Probe): AudioPlan {
  return planCompress(source, {
    format: 'original',
    quality: 'maximum',
    channels: 'original',
    bitrate_kbps: Math.floor((source.bitRate * CHAIN_RATE_RATIO) / 1000),
    sample_rate_hz: null,
    strip_metadata: true,
  });
}

async function stripTags(deps: EngineDeps, work: Work, facts: MediaFacts): Promise<Produced<MediaFacts>> {
  const { format } = work.input;
  const strip = STRIPPERS[format];
  if (isChained(facts)) return produce(deps, work, planChainStrip(withRate(work, facts)), facts);
  if (strip === undefined) return produce(deps, work, planStrip(facts.probe), facts);
  const path = join(work.directory, `stripped.${extensionOf(format)}`);
  await strip(work.input.path, path);
  return { path, format, facts: factsOf(await probe(deps, work, { path, format })), warnings: [] };
}

function factsOf(source: Probe): MediaFacts {
  return { durationSeconds: playingSeconds(source, [audioTrackOf(source)]), probe: source };
}

/** Tolerated loss of duration by the rounding of codec and container, in seconds. */
const ROUNDING = 0.3;

/** Duration in seconds below which an encoder may write no packet. */
const SHORTEST = 0.02;

/**
 * Runs the plan. A copy that fails is encoded instead: not every variant of a codec is supported in each container, such
 * as AAC-ELD in ADTS.
 */
async function produce(
  deps: EngineDeps,
  work: Work,
  plan: AudioPlan,
  facts: MediaFacts,
): Promise<Produced<MediaFacts>> {
  const { encoded } = plan;
  if (encoded === null) return runWithSilence(deps, work, plan, facts);
  try {
    return await run(deps, work, plan, facts);
  } catch (error) {
    if (!mayRetry(deps, error)) throw error;
    return runWithSilence(deps, work, encoded, facts);
  }
}

/**
 * Runs the plan. Repeats it with silence at the end when a very short input has no output, and with silence in gaps
 * when the output is too short: ffmpeg drops the gaps that a container cannot represent.
 */
async function runWithSilence(
  deps: EngineDeps,
  work: Work,
  plan: AudioPlan,
  facts: MediaFacts,
): Promise<Produced<MediaFacts>> {
  const produced = await run(deps, work, plan, facts).catch((error: unknown) => {
    const longer = facts.durationSeconds < SHORTEST ? withSilentEnd(plan, SHORTEST) : null;
    if (longer === null) throw error;
    return run(deps, work, longer, facts);
  });
  const lacks = facts.durationSeconds - produced.facts.durationSeconds;
  const filled = lacks > ROUNDING ? withPauses(plan) : null;
  return filled === null ? produced : run(deps, work, filled, facts);
}

async function run(deps: EngineDeps, work: Work, plan: AudioPlan, facts: MediaFacts): Promise<Produced<MediaFacts>> {
  const { format, outputOptions, warnings } = plan;
  const { path, written } = await encode(deps, { work, format, outputOptions, seconds: facts.durationSeconds });
  const produced = factsOf(await probe(deps, work, { path, format }));
  const dropped = [
    ...droppedWarning(facts.probe.audio.length - 1, 'further audio track'),
    ...(removesTags(work) ? [] : droppedTags(facts.probe, produced.probe)),
    ...(isChained(facts) && !removesTags(work) ? [CHAIN_WARNING] : []),
  ];
  return { path, format, facts: produced, warnings: [...warnings, ...dropped], written };
}

const CHAIN_WARNING =
  'The file consists of several recordings, one after the other. They were joined to one, with the tags of the first.';

function isChained({ probe: { ogg } }: MediaFacts): boolean {
  return ogg?.isChained === true;
}

function removesTags({ operation, options }: Work): boolean {
  return operation === 'compress' && options.audio.strip_metadata;
}

/** Returns warnings for a cover image and chapters, which some formats cannot contain. */
function droppedTags(input: Probe, output: Probe): string[] {
  return [
    ...droppedWarning(input.covers - output.covers, 'cover image'),
    ...droppedWarning(input.chapters - output.chapters, 'chapter'),
  ];
}

/** Ratio of the bit rate by size to the declared one of an MP3 above which its first frames are not like the others. */
const MAX_RATE_RATIO = 1.5;

/**
 * Returns the probe with the bit rate by size and duration: ADTS and some Ogg files declare a wrong one, and of MP3 without
 * a header of its variable rate that of the first frames is found. Excludes the tags and cover art of Ogg files.
 */
function withRate(work: Work, { probe: source, durationSeconds }: MediaFacts): Probe {
  const bytes = source.ogg?.audioBytes ?? work.input.size;
  const bySize = Math.round((bytes * 8) / durationSeconds);
  const rateOf = ({ bit_rate: declared }: MediaStream): number => {
    if (source.format === 'mp3') return bySize > declared * MAX_RATE_RATIO ? bySize : declared;
    return source.format === 'aac' && source.cover === null ? bySize : declared;
  };
  return {
    ...source,
    bitRate: source.cover === null || source.ogg !== null ? bySize : source.bitRate,
    audio: source.audio.map((track) => ({ ...track, bit_rate: rateOf(track) })),
  };
}

function targetOf(work: Work): AudioOutput {
  const target = work.options.convert.to;
  if (target === 'm4a' || target === 'mp3' || target === 'wav' || target === 'flac' || target === 'ogg') return target;
  throw unsupportedTarget('audio', target);
}

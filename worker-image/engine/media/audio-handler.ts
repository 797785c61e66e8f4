/** Audio: compressed and converted by ffmpeg. Spec: Capabilities / compress.audio, convert. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MediaError } from '#crds/media-error.ts';
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
  planCompress,
  planConvert,
  planStrip,
  type AudioOutput,
  type AudioPlan,
} from '#worker-image/engine/media/audio-plan.ts';
import { compareSeconds, encode } from '#worker-image/engine/media/encode.ts';
import { withWarning } from '#worker-image/engine/media/missing-end.ts';
import { stripAsf } from '#worker-image/engine/media/strip-asf.ts';
import { countSeconds, probe, type Probe } from '#worker-image/engine/media/probe.ts';

export const audioHandler: KindHandler = {
  inspect: async (deps, work) => {
    const source = await probe(deps, work, work.input);
    return withWarning(work, source, await factsOf(deps, work, source));
  },

  compress: async (deps, work, facts) => {
    const source = await probe(deps, work, work.input);
    return produce(deps, work, planCompress(withRate(source, work, facts), work.options.audio), facts);
  },

  convert: async (deps, work, facts) => {
    const source = await probe(deps, work, work.input);
    return produce(deps, work, planConvert(source, targetOf(work)), facts);
  },

  // Not an operation on sound of its own: a file that is kept must not keep its tags against the caller's wish.
  stripMetadata: async (deps, work, facts) =>
    work.input.format === 'wma'
      ? stripWma(work, facts)
      : produce(deps, work, planStrip(await probe(deps, work, work.input)), facts),

  verify: async (deps, work, input, produced) => {
    const output = await probe(deps, work, produced);
    if (output.audio.length !== 1) throw new Error(`the output holds ${output.audio.length} audio tracks`);
    compareSeconds(input.durationSeconds, produced.facts.durationSeconds);
  },
};

/** ffmpeg would write another header around the sound. */
async function stripWma({ directory, input }: Work, facts: Facts): Promise<Produced> {
  const path = join(directory, 'stripped.wma');
  await writeFile(path, stripAsf(await readFile(input.path)));
  return { path, format: 'wma', facts, warnings: [] };
}

async function factsOf(deps: EngineDeps, work: Work, source: Probe): Promise<Facts> {
  audioTrackOf(source);
  return { ...NO_FACTS, durationSeconds: await countSeconds(deps, work, { ...source, video: null }) };
}

async function produce(deps: EngineDeps, work: Work, plan: AudioPlan, facts: Facts): Promise<Produced> {
  const path = await encode(deps, {
    work,
    format: plan.format,
    outputOptions: plan.outputOptions,
    seconds: facts.durationSeconds,
  });
  const output: Work = { ...work, input: { ...work.input, path, format: plan.format } };
  return {
    path,
    format: plan.format,
    facts: await factsOf(deps, output, await probe(deps, output, output.input)),
    warnings: plan.warnings,
  };
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
  throw new MediaError(
    'unsupported_target',
    `Audio does not convert to ${target}. The targets are m4a, mp3, wav, flac, ogg.`,
    {
      param: 'convert.to',
    },
  );
}

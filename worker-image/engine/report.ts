import { stat } from 'node:fs/promises';
import type { WorkerReport } from '#crds/media-job.ts';
import { savingsPercent } from '#crds/savings.ts';
import type { Facts } from '#worker-image/engine/handler.ts';
import type { Made, Step } from '#worker-image/engine/process-file.ts';
import { sha256 } from '#worker-image/engine/sha256.ts';

const MAX_WARNINGS = 10;
const MAX_WARNING_LENGTH = 200;

/** What the engine says of one processed file. Spec: Result object. */
export async function makeReport(
  step: Step,
  made: Made,
  receipt: Pick<WorkerReport, 'inputSha256' | 'tools'>,
): Promise<WorkerReport> {
  const { input } = step.work;
  const { produced, keptOriginal } = made;
  const { size } = await stat(produced.path);
  const outputSha256 = keptOriginal ? receipt.inputSha256 : await sha256(produced.path);
  const result: WorkerReport['result'] = {
    kind: input.kind,
    input_format: input.format,
    output_format: produced.format,
    original_size: input.size,
    output_size: size,
    savings_percent: savingsPercent(input.size, size),
    kept_original: keptOriginal,
    increased: size > input.size,
    width: produced.facts.width,
    height: produced.facts.height,
    pages: input.kind === 'pdf' ? step.facts.pages : null,
    duration_seconds: playingSeconds(step.facts, produced.facts),
    video_codec: input.kind === 'video' ? produced.facts.videoCodec : null,
    warnings: warningsOf(step, made),
  };
  return { result, outputSha256, ...receipt };
}

function warningsOf({ work, facts }: Step, { produced }: Made): string[] {
  const all = [work.input.warning, facts.warning, ...produced.warnings].filter((warning) => warning !== null);
  return all.slice(0, MAX_WARNINGS).map((warning) => warning.slice(0, MAX_WARNING_LENGTH));
}

/** The shorter one: a codec fills its last frame with silence, which is no playing time and begins no minute to pay. */
function playingSeconds(...files: readonly Facts[]): number | null {
  const told = files.flatMap(({ durationSeconds }) => durationSeconds ?? []);
  return told.length === 0 ? null : Math.round(Math.min(...told) * 1000) / 1000;
}

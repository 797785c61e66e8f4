import { statSync } from 'node:fs';
import type { WorkerReport } from '#crds/contract/media-job.ts';
import { savingsPercent } from '#crds/catalogue/savings.ts';
import { plainText } from '#crds/process/plain-text.ts';
import type { Facts, InspectedFile, VerifiedOutput } from '#worker-image/engine/handler.ts';

const MAX_WARNINGS = 10;
const MAX_WARNING_LENGTH = 200;

/** Returns the report on one processed file. See docs/reference/direct.md#result-object. */
export async function makeReport(
  file: InspectedFile,
  output: VerifiedOutput,
  receipt: Omit<WorkerReport, 'result'>,
): Promise<WorkerReport> {
  const { input } = file.work;
  const { produced, keptOriginal } = output;
  const { size } = statSync(produced.path);
  const result: WorkerReport['result'] = {
    kind: input.kind,
    input_format: input.format,
    output_format: produced.format,
    original_size: input.size,
    output_size: size,
    savings_percent: savingsPercent(input.size, size),
    kept_original: keptOriginal,
    increased: size > input.size,
    width: produced.facts.width ?? null,
    height: produced.facts.height ?? null,
    pages: (input.kind === 'pdf' ? file.facts.pages : null) ?? null,
    duration_seconds: playingSeconds(file.facts, produced.facts),
    video_codec: (input.kind === 'video' ? produced.facts.videoCodec : null) ?? null,
    warnings: warningsOf(file, output),
  };
  return { result, ...receipt };
}

function warningsOf({ work, facts }: InspectedFile, { produced }: VerifiedOutput): string[] {
  const all = [work.input.warning, facts.warning, ...produced.warnings].filter((warning) => warning != null);
  return all.slice(0, MAX_WARNINGS).map((warning) => plainText(warning, MAX_WARNING_LENGTH));
}

/**
 * Returns the shorter playing time of input and output, in seconds: a codec pads its last frame with silence, which
 * must not begin another billed minute.
 */
function playingSeconds(...files: readonly Facts[]): number | null {
  const seconds = files.flatMap(({ durationSeconds }) => durationSeconds ?? []);
  return seconds.length === 0 ? null : Math.round(Math.min(...seconds) * 1000) / 1000;
}

import { rename, writeFile } from 'node:fs/promises';
import { TERMINATION_BYTES } from '#crds/run-files.ts';
import type { RunOutcome } from '#crds/run-spec.ts';

const MESSAGE_CHARACTERS = 1000;

/**
 * Leaves the outcome in the termination file, whole or not at all: under another name first, then
 * renamed. In a pod the file is a mount that cannot be replaced; there one write of a few bytes does.
 */
export async function writeOutcome(path: string, outcome: RunOutcome): Promise<void> {
  const text = outcomeText(outcome);
  const draft = `${path}.${process.pid}`;
  try {
    await writeFile(draft, text, { mode: 0o600 });
    await rename(draft, path);
  } catch {
    await writeFile(path, text);
  }
}

/** The outcome as JSON of at most 4,096 bytes: warnings go first, from the last one. */
export function outcomeText(outcome: RunOutcome): string {
  let fitting = shortened(outcome);
  while (Buffer.byteLength(JSON.stringify(fitting)) > TERMINATION_BYTES) fitting = withLess(fitting);
  return JSON.stringify(fitting);
}

function shortened(outcome: RunOutcome): RunOutcome {
  if (outcome.outcome === 'succeeded') return outcome;
  const { code, message } = outcome.error;
  return { outcome: 'failed', error: { code, message: message.slice(0, MESSAGE_CHARACTERS) } };
}

function withLess(outcome: RunOutcome): RunOutcome {
  if (outcome.outcome === 'failed') {
    const { code, message } = outcome.error;
    return { outcome: 'failed', error: { code, message: message.slice(0, Math.floor(message.length / 2)) } };
  }
  const { report } = outcome;
  const { warnings } = report.result;
  if (warnings.length === 0) return { outcome: 'succeeded', report: { ...report, tools: {} } };
  return { outcome: 'succeeded', report: { ...report, result: { ...report.result, warnings: warnings.slice(0, -1) } } };
}

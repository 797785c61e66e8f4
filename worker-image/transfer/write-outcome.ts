import { rename, writeFile } from 'node:fs/promises';
import { TERMINATION_BYTES } from '#crds/contract/run-files.ts';
import type { RunOutcome } from '#crds/contract/run-spec.ts';
import { plainText } from '#crds/process/plain-text.ts';

const MESSAGE_CHARACTERS = 1000;

/**
 * Writes the outcome to the termination file atomically: under another name first, then renamed. In a pod the file is a
 * mount that cannot be replaced; there it is written directly, in one write of at most 4,096 bytes.
 */
export async function writeOutcome(path: string, outcome: RunOutcome): Promise<void> {
  const text = outcomeText(outcome);
  const temporary = `${path}.${process.pid}`;
  try {
    await writeFile(temporary, text, { mode: 0o600 });
    await rename(temporary, path);
  } catch {
    await writeFile(path, text);
  }
}

/**
 * Returns the outcome as JSON of at most 4,096 bytes. Drops warnings first, from the last one.
 * @throws Error when a result is longer without its warnings and tools.
 */
export function outcomeText(outcome: RunOutcome): string {
  let fitting = shortened(outcome);
  while (Buffer.byteLength(JSON.stringify(fitting)) > TERMINATION_BYTES) fitting = shortenedAgain(fitting);
  return JSON.stringify(fitting);
}

function shortened(outcome: RunOutcome): RunOutcome {
  if (outcome.outcome === 'succeeded') return outcome;
  const { code, message } = outcome.error;
  return { ...outcome, error: { code, message: plainText(message, MESSAGE_CHARACTERS) } };
}

function shortenedAgain(outcome: RunOutcome): RunOutcome {
  if (outcome.outcome === 'failed') {
    const { code, message } = outcome.error;
    return { outcome: 'failed', error: { code, message: message.slice(0, Math.floor(message.length / 2)) } };
  }
  const { report } = outcome;
  const { warnings } = report.result;
  if (warnings.length === 0 && Object.keys(report.tools).length === 0) throw new Error('The result is too long.');
  if (warnings.length === 0) return { outcome: 'succeeded', report: { ...report, tools: {} } };
  return { outcome: 'succeeded', report: { ...report, result: { ...report.result, warnings: warnings.slice(0, -1) } } };
}

import { readFile } from 'node:fs/promises';
import type { OutcomeReport, RunSpec } from '#crds/contract/run-spec.ts';
import { OUTCOME_PATH, portAddress } from '#crds/contract/worker-port.ts';
import { openRequest } from '#worker-image/transfer/http-request.ts';

const TIMEOUT_MS = 2000;

/**
 * Reports the outcome in the termination file to the controller. Returns whether it was accepted; when it was not, the
 * end of the pod reports it.
 */
export async function reportOutcome(
  { jobId, attempt, dispatch, heartbeat }: Pick<RunSpec, 'jobId' | 'attempt' | 'dispatch' | 'heartbeat'>,
  terminationFile: string,
): Promise<boolean> {
  try {
    const outcome = await readFile(terminationFile, 'utf8');
    const body = JSON.stringify({ jobId, attempt, dispatch, outcome } satisfies OutcomeReport);
    const headers = {
      authorization: `Bearer ${heartbeat.token}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    };
    const url = portAddress(heartbeat.url, OUTCOME_PATH);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await openRequest({ method: 'POST', url, headers, signal }, (request) => request.end(body));
    response.resume();
    return response.statusCode === 204;
  } catch {
    return false;
  }
}

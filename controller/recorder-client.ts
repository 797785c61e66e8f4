/** Requests of the controller to a recorder, which has the database and the credentials of the bucket. */
import { request } from 'undici';
import { heartbeatToken } from '#crds/contract/heartbeat-token.ts';
import { RUN_INPUT_PATH, runInputSchema, type RunInputRequest } from '#crds/contract/run-input.ts';
import { completeRunSpec, type RunSpec } from '#crds/contract/run-spec.ts';
import { TRANSFER_PATH, transferGrantSchema, type GrantTransfer } from '#crds/contract/transfer-urls.ts';
import type { RunRequest } from '#controller/runs.ts';

const RESPONSE_TIMEOUT_MS = 8000;

export interface Recorder {
  /** URL of transfer requests. */
  readonly url: string;
  /** Key of the attempts' tokens. */
  readonly key: Buffer;
}

/** Returns a function that requests transfers from a recorder. @throws when the recorder does not respond. */
export function forwardTransfers(recorder: Recorder): GrantTransfer {
  return async (transfer) => {
    const granted = await post(recorder, TRANSFER_PATH, transfer);
    return granted === null ? null : transferGrantSchema.parse(granted);
  };
}

/**
 * Returns a function that fetches the secret part of an attempt's spec (file name and ETag) and returns the complete spec;
 * null when the attempt is not current. @throws when the recorder does not respond.
 */
export function completeByRecorder(recorder: Recorder): (request: RunRequest) => Promise<RunSpec | null> {
  return async ({ spec, attempt, dispatch }) => {
    const { jobId } = spec;
    const wanted: RunInputRequest = { jobId, attempt, dispatch };
    const found = await post(recorder, RUN_INPUT_PATH, wanted);
    if (found === null) return null;
    const { filename, etag } = runInputSchema.parse(found);
    const tokens = Array.from({ length: attempt }, (_, index) => heartbeatToken(recorder.key, jobId, index + 1));
    return completeRunSpec(spec, { dispatch, filename, inputEtag: etag, heartbeatTokens: tokens });
  };
}

/** Returns the JSON of the response; null for status 410. */
async function post(
  { url, key }: Recorder,
  path: string,
  body: { readonly jobId: string; readonly attempt: number },
): Promise<unknown> {
  const response = await request(new URL(path, url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${heartbeatToken(key, body.jobId, body.attempt)}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
  });
  if (response.statusCode === 200) return response.body.json();
  await response.body.dump();
  if (response.statusCode === 410) return null;
  throw new Error(`the recorder refused ${path} with status ${response.statusCode}`);
}

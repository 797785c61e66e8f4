import { text } from 'node:stream/consumers';
import { startRequest } from '#crds/process/start-request.ts';

export interface TextResponse {
  readonly status: number;
  readonly body: string;
}

/** Returns the response to a GET of an `http:` or `http+unix:` URL. @throws the signal's reason, or why nobody answered. */
export function getText(url: string, signal?: AbortSignal): Promise<TextResponse> {
  return new Promise((resolve, reject) => {
    const request = startRequest(url, { agent: false, ...(signal === undefined ? {} : { signal }) });
    request.once('error', reject);
    request.once('response', (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    request.end();
  });
}

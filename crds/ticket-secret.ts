/**
 * The Secret that keeps a job's ticket, in keys that are parts of a RunSpec as JSON: one for the input, one for
 * each attempt. A pod mounts the input's and its own attempt's, so that it never sees where another attempt writes.
 */
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { jobTicketSchema, type JobTicket } from '#crds/media-job.ts';
import { API_GROUP, API_VERSION, KIND } from '#crds/names.ts';

export const INPUT_KEY = 'input.json';
export const attemptKey = (attempt: number): string => `attempt-${attempt}.json`;

/** Belongs to its MediaJob and goes with it. */
export function buildTicketSecret({
  owner: { metadata },
  name,
  ticket,
  labels,
}: {
  owner: KubeObject;
  name: string;
  ticket: JobTicket;
  labels: Readonly<Record<string, string>>;
}): object {
  const owner = {
    apiVersion: `${API_GROUP}/${API_VERSION}`,
    kind: KIND,
    name: metadata.name,
    uid: metadata.uid,
    controller: true,
  };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name, labels, ownerReferences: [owner] },
    data: encodedTicket(ticket),
  };
}

/** The data of the Secret. */
function encodedTicket(ticket: JobTicket): Record<string, string> {
  const { outputs, heartbeatTokens, ...input } = jobTicketSchema.parse(ticket);
  const attempts = outputs.map((output, index) => [
    attemptKey(index + 1),
    encoded({ output, heartbeat: { token: heartbeatTokens[index] } }),
  ]);
  return { ...encodedInput(input), ...Object.fromEntries(attempts) };
}

/** The part of the data that a stored input completes. */
export function encodedInput({
  inputUrl,
  inputEtag,
  filename,
}: Pick<JobTicket, 'inputUrl' | 'inputEtag' | 'filename'>): Record<string, string> {
  return { [INPUT_KEY]: encoded({ filename, input: { url: inputUrl, etag: inputEtag } }) };
}

/** @throws ZodError when somebody has changed it. */
export function ticketOf(secret: KubeObject): JobTicket {
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>;
  const { filename, input } = decoded(data[INPUT_KEY]);
  const attempts = Object.keys(data)
    .filter((key) => key !== INPUT_KEY)
    .toSorted()
    .map((key) => decoded(data[key]));
  return jobTicketSchema.parse({
    inputUrl: input?.url,
    inputEtag: input?.etag,
    filename,
    outputs: attempts.map(({ output }) => output),
    heartbeatTokens: attempts.map(({ heartbeat }) => heartbeat?.token),
  });
}

/** False for what an earlier MediaJob has left. */
export function isOwnedBy({ metadata }: KubeObject, owner: KubeObject): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) ?? false;
}

interface Part {
  readonly filename?: unknown;
  readonly input?: { readonly url?: unknown; readonly etag?: unknown };
  readonly output?: unknown;
  readonly heartbeat?: { readonly token?: unknown };
}

function encoded(part: Part): string {
  return Buffer.from(JSON.stringify(part)).toString('base64');
}

function decoded(data: string | undefined): Part {
  return data === undefined ? {} : (JSON.parse(Buffer.from(data, 'base64').toString('utf8')) as Part);
}

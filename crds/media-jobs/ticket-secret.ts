/**
 * Secret with a job's ticket. Its keys are parts of a RunSpec as JSON: one for the input, one for each attempt. A pod
 * mounts the keys of the input and of its own attempt, so that it cannot read the tokens of other attempts.
 */
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { jobTicketSchema, type JobTicket } from '#crds/contract/media-job.ts';
import { API_GROUP, CRD_VERSION, KIND } from '#crds/contract/names.ts';

export const INPUT_KEY = 'input.json';
export const attemptKey = (attempt: number): string => `attempt-${attempt}.json`;

/** Returns the Secret of a ticket. Its MediaJob owns it, so Kubernetes deletes both together. */
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
    apiVersion: `${API_GROUP}/${CRD_VERSION}`,
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

/** Returns the data of the Secret. */
function encodedTicket({ dispatch, heartbeatTokens, ...input }: JobTicket): Record<string, string> {
  const attempts = heartbeatTokens.map((token, index) => [
    attemptKey(index + 1),
    encoded({ dispatch, heartbeat: { token } }),
  ]);
  return { ...encodedInput(input), ...Object.fromEntries(attempts) };
}

/** Returns the part of the data that a stored input completes. */
export function encodedInput({
  inputEtag,
  filename,
}: Pick<JobTicket, 'inputEtag' | 'filename'>): Record<string, string> {
  return { [INPUT_KEY]: encoded({ filename, input: { etag: inputEtag } }) };
}

/** Returns the ticket of a Secret. @throws ZodError when the Secret was changed. */
export function ticketOf(secret: KubeObject): JobTicket {
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>;
  const { filename, input } = decoded(data[INPUT_KEY]);
  const attempts = Object.keys(data)
    .filter((key) => key !== INPUT_KEY)
    .toSorted()
    .map((key) => decoded(data[key]));
  return jobTicketSchema.parse({
    dispatch: attempts[0]?.dispatch,
    inputEtag: input?.etag,
    filename,
    heartbeatTokens: attempts.map(({ heartbeat }) => heartbeat?.token),
  });
}

/** Returns true when `owner` owns the object; false for an object of an earlier MediaJob. */
export function isOwnedBy({ metadata }: KubeObject, owner: KubeObject): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) ?? false;
}

interface RunSpecPart {
  readonly filename?: unknown;
  readonly dispatch?: unknown;
  readonly input?: { readonly etag?: unknown };
  readonly heartbeat?: { readonly token?: unknown };
}

function encoded(part: RunSpecPart): string {
  return Buffer.from(JSON.stringify(part)).toString('base64');
}

function decoded(data: string | undefined): RunSpecPart {
  return data === undefined ? {} : (JSON.parse(Buffer.from(data, 'base64').toString('utf8')) as RunSpecPart);
}

/** The Secret that keeps a job's ticket: signed URLs and the caller's file name. */
import type { KubeClient } from '#crds/kube/kube-client.ts';
import { orNull } from '#crds/kube/kube-error.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { jobTicketSchema, type JobTicket } from '#crds/media-job.ts';
import { API_GROUP, API_VERSION, KIND } from '#crds/names.ts';

const TICKET_KEY = 'ticket.json';

/** Makes the Secret of a MediaJob, which owns it. One of that name may be left of a MediaJob that had the name before. */
export async function createTicket(
  client: Pick<KubeClient, 'get' | 'create' | 'delete'>,
  path: string,
  { object, ticket, labels }: { object: KubeObject; ticket: JobTicket; labels: Readonly<Record<string, string>> },
): Promise<void> {
  const { name } = object.metadata;
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name, labels, ownerReferences: [ownerReference(object)] },
    data: encodedTicket(ticket),
  };
  if ((await orNull(client.create(path, secret), 409)) !== null) return;
  const earlier = await orNull(client.get(`${path}/${name}`), 404);
  if (earlier !== null) await orNull(client.delete(`${path}/${name}`, { uid: earlier.metadata.uid }), 404, 409);
  await client.create(path, secret);
}

function ownerReference({ metadata: { name, uid } }: KubeObject) {
  return { apiVersion: `${API_GROUP}/${API_VERSION}`, kind: KIND, name, uid, controller: true };
}

/** The data of the Secret. */
export function encodedTicket(ticket: JobTicket): Record<string, string> {
  return { [TICKET_KEY]: Buffer.from(JSON.stringify(jobTicketSchema.parse(ticket))).toString('base64') };
}

/** @throws ZodError when somebody has changed it. */
export function ticketOf(secret: KubeObject): JobTicket {
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>;
  return jobTicketSchema.parse(JSON.parse(Buffer.from(data[TICKET_KEY] ?? '', 'base64').toString('utf8')));
}

/** False for what an earlier MediaJob of the name has left. */
export function isOwnedBy({ metadata }: KubeObject, owner: KubeObject): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) ?? false;
}

/**
 * MediaJobs on an API server: custom resources, each of which owns a Secret with its ticket. Reads come from a watched
 * store with this process's own writes. A status write has the version that it is based on as precondition. The CRD's
 * rules refuse stale writes, too.
 */
import { isDeepStrictEqual } from 'node:util';
import type { EventRecorder } from '#crds/kube/event-recorder.ts';
import type { KubeClient } from '#crds/kube/kube-client.ts';
import { orNull } from '#crds/kube/kube-error.ts';
import type { KubeMetrics } from '#crds/kube/kube-metrics.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { OwnWrites } from '#crds/kube/own-writes.ts';
import type { Reflector } from '#crds/kube/reflector.ts';
import type { Time } from '#crds/kube/time.ts';
import { conditionsOf, type Condition } from '#crds/contract/media-job-conditions.ts';
import { deliverEvent } from '#crds/media-jobs/deliver-event.ts';
import { eventOf } from '#crds/media-jobs/media-job-events.ts';
import type { MediaJobClient, MediaJobEvent, NewMediaJob, StoredInput } from '#crds/media-jobs/media-job-client.ts';
import {
  mayFollow,
  mediaJobSpecSchema,
  mediaJobStatusSchema,
  type JobTicket,
  type MediaJob,
  type MediaJobSpec,
  type MediaJobStatus,
} from '#crds/contract/media-job.ts';
import { API_GROUP, CRD_VERSION, KIND, LABELS, PLURAL, UNTRACKED } from '#crds/contract/names.ts';
import type { Log } from '#crds/process/log.ts';
import type { Installation } from '#crds/media-jobs/installation.ts';
import { buildTicketSecret, encodedInput, isOwnedBy, ticketOf } from '#crds/media-jobs/ticket-secret.ts';
import { withNulls, withoutNulls } from '#crds/contract/wire-form.ts';

export interface KubernetesMediaJobsDeps {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'create' | 'mergePatch' | 'delete'>;
  /** Reflector of `mediaJobsPath`. */
  readonly reflector: Pick<Reflector, 'store' | 'synced' | 'watch'>;
  readonly events: EventRecorder;
  readonly time: Pick<Time, 'now' | 'monotonic'>;
  readonly log: Log;
  readonly metrics: Pick<KubeMetrics, 'staleRead'>;
}

/** Returns the path of the collection of MediaJobs of a namespace. */
export function mediaJobsPath(namespace: string): string {
  return `/apis/${API_GROUP}/${CRD_VERSION}/namespaces/${namespace}/${PLURAL}`;
}

/** Client of the MediaJobs of an installation. Those of others in its namespace do not exist for it. */
export class KubernetesMediaJobs implements MediaJobClient {
  readonly #deps: KubernetesMediaJobsDeps;
  readonly #namespace: string;
  readonly #instance: string;
  readonly #path: string;
  readonly #view: OwnWrites;

  constructor(deps: KubernetesMediaJobsDeps, { namespace, instance }: Installation, signal: AbortSignal) {
    const { reflector, time, metrics } = deps;
    const onStale = (): void => metrics.staleRead(PLURAL);
    this.#deps = deps;
    this.#namespace = namespace;
    this.#instance = instance;
    this.#path = mediaJobsPath(namespace);
    this.#view = new OwnWrites({ reflector, monotonic: time.monotonic, onStale }, {}, signal);
  }

  async create(request: NewMediaJob): ReturnType<MediaJobClient['create']> {
    const { client } = this.#deps;
    const labels = { ...request.labels, [LABELS.instance]: this.#instance };
    const object = await orNull(client.create(this.#path, newObject({ ...request, labels })), 409);
    if (object === null) return 'exists';
    this.#view.wrote(object);
    try {
      const { ticket, spec } = request;
      const secret = buildTicketSecret({ owner: object, name: spec.secretName, ticket, labels });
      await client.create(secretsPath(this.#namespace), secret);
    } catch (error) {
      await this.#remove(object);
      throw error;
    }
    return 'created';
  }

  async get(name: string): Promise<MediaJob | null> {
    const object = await this.#seen(name);
    return object === undefined ? null : mediaJobOf(object);
  }

  async isUnclaimed(name: string): Promise<boolean> {
    const object = await orNull(this.#deps.client.get(`${this.#path}/${name}`), 404);
    return object !== null && object.metadata.labels?.[LABELS.instance] === undefined;
  }

  async claim(isOwn: (mediaJob: MediaJob) => Promise<boolean>): Promise<void> {
    const { client } = this.#deps;
    const { items } = await client.list(this.#path, { labelSelector: `!${LABELS.instance}` });
    for (const object of items) {
      const { name, uid } = object.metadata;
      if (!(await isOwn(mediaJobOf(object)))) continue;
      const patch = { metadata: { uid, labels: { [LABELS.instance]: this.#instance } } };
      const claimed = await orNull(client.mergePatch(`${this.#path}/${name}`, patch), 404, 409);
      if (claimed !== null) this.#view.wrote(claimed);
    }
  }

  async list(): Promise<readonly MediaJob[]> {
    await this.#deps.reflector.synced;
    return this.#view.list().map(mediaJobOf);
  }

  async ticket(name: string): Promise<JobTicket | null> {
    const object = await this.#seen(name);
    const secret = object === undefined ? null : await this.#secretOf(object);
    return secret === null ? null : ticketOf(secret);
  }

  async resume(name: string, { inputSize, kind, ...input }: StoredInput): Promise<boolean> {
    const { client } = this.#deps;
    const object = await this.#seen(name);
    if (object === undefined) return false;
    const { spec, metadata } = mediaJobOf(object);
    if (!spec.suspend) return true;
    const secret = await this.#secretOf(object);
    if (secret === null) return false;
    const { uid, resourceVersion } = secret.metadata;
    const complete = { metadata: { uid, resourceVersion }, data: encodedInput(input) };
    await client.mergePatch(`${secretsPath(this.#namespace)}/${spec.secretName}`, complete);
    const patch = { metadata: { uid: metadata.uid }, spec: { inputSize, kind, suspend: false } };
    const resumed = await orNull(client.mergePatch(`${this.#path}/${name}`, patch), 404, 409);
    if (resumed !== null) this.#view.wrote(resumed);
    return resumed !== null;
  }

  async updateStatus(mediaJob: MediaJob, status: MediaJobStatus): ReturnType<MediaJobClient['updateStatus']> {
    const { client, time } = this.#deps;
    const next = mediaJobStatusSchema.parse(status);
    if (isDeepStrictEqual(mediaJob.status, next)) return 'updated';
    const { name, uid } = mediaJob.metadata;
    const object = await this.#seen(name);
    if (object?.metadata.uid !== uid) return 'deleted';
    if (!mayFollow(mediaJob.status, next)) return 'conflict';
    const patch = statusPatch(time.now(), { mediaJob, object, next });
    const written = await orNull(client.mergePatch(`${this.#path}/${name}/status`, patch), 404, 409);
    if (written === null) return whyNot(client, `${this.#path}/${name}`, uid);
    this.#view.wrote(written);
    const event = eventOf(mediaJob.status, next);
    if (event !== null) this.#deps.events.record(this.#referenceTo(object), event);
    return 'updated';
  }

  async delete(name: string, unexpected?: string): Promise<void> {
    const object = await this.#seen(name);
    if (object === undefined) return;
    if (unexpected !== undefined) {
      const event = { type: 'Warning', reason: 'Unexpected', message: unexpected } as const;
      this.#deps.events.record(this.#referenceTo(object), event);
    }
    await this.#remove(object);
  }

  watch(onEvent: (event: MediaJobEvent) => void, signal: AbortSignal): void {
    this.#deps.reflector.watch(({ type, object }) => {
      const mediaJob = mediaJobOf(object);
      const onError = (error: unknown): void =>
        this.#deps.log.error({ err: error, name: mediaJob.metadata.name }, 'watcher failed');
      deliverEvent({ type, mediaJob }, { onEvent, signal, onError });
    }, signal);
  }

  async #seen(name: string): Promise<KubeObject | undefined> {
    await this.#deps.reflector.synced;
    return this.#view.get(name);
  }

  /** Returns the Secret of a MediaJob; null when it is missing or belongs to another MediaJob. */
  async #secretOf(object: KubeObject): Promise<KubeObject | null> {
    const path = `${secretsPath(this.#namespace)}/${mediaJobOf(object).spec.secretName}`;
    const secret = await orNull(this.#deps.client.get(path), 404);
    return secret !== null && isOwnedBy(secret, object) ? secret : null;
  }

  async #remove(object: KubeObject): Promise<void> {
    const { name, uid } = object.metadata;
    const options = { uid, propagationPolicy: 'Background' } as const;
    await orNull(this.#deps.client.delete(`${this.#path}/${name}`, options), 404, 409);
    this.#view.deleted(object);
  }

  #referenceTo({ metadata: { name, uid } }: KubeObject) {
    return { apiVersion: `${API_GROUP}/${CRD_VERSION}`, kind: KIND, namespace: this.#namespace, name, uid };
  }
}

function secretsPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/secrets`;
}

function newObject({ name, labels, annotations, spec }: NewMediaJob): object {
  return {
    apiVersion: `${API_GROUP}/${CRD_VERSION}`,
    kind: KIND,
    metadata: { name, labels, annotations: { ...UNTRACKED, ...annotations } },
    spec: withoutNulls(mediaJobSpecSchema.parse(spec)),
  };
}

const translated = new WeakMap<KubeObject, MediaJob>();

/** Converts an object, which the API server has validated. */
function mediaJobOf(object: KubeObject): MediaJob {
  const known = translated.get(object);
  if (known !== undefined) return known;
  const { name, uid, resourceVersion, creationTimestamp, labels = {}, annotations } = object.metadata;
  const mediaJob: MediaJob = {
    metadata: { name, uid, resourceVersion, creationTimestamp, labels, ...(annotations && { annotations }) },
    spec: withNulls(mediaJobSpecSchema, object['spec']) as MediaJobSpec,
    ...(isWritten(object['status'])
      ? { status: withNulls(mediaJobStatusSchema, object['status']) as MediaJobStatus }
      : {}),
  };
  translated.set(object, mediaJob);
  return mediaJob;
}

/** Returns false for the CRD's default status, which a MediaJob has until the controller writes one. */
function isWritten(status: unknown): boolean {
  return typeof status === 'object' && status !== null && 'observedGeneration' in status;
}

/** Returns a merge patch, which deletes null fields. */
function statusPatch(
  now: Date,
  { mediaJob, object, next }: { mediaJob: MediaJob; object: KubeObject; next: MediaJobStatus },
): object {
  const { uid, resourceVersion } = mediaJob.metadata;
  const generation = object.metadata.generation ?? 0;
  const { conditions: before = [] } = (object['status'] ?? {}) as { conditions?: readonly Condition[] };
  const conditions = conditionsOf({ status: next, generation, before, now });
  return { metadata: { uid, resourceVersion }, status: { ...next, observedGeneration: generation, conditions } };
}

async function whyNot(client: Pick<KubeClient, 'get'>, path: string, uid: string): Promise<'conflict' | 'deleted'> {
  const now = await orNull(client.get(path), 404);
  return now?.metadata.uid === uid ? 'conflict' : 'deleted';
}

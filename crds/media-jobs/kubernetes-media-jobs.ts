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
import { makeOwnWrites } from '#crds/kube/own-writes.ts';
import type { Reflector } from '#crds/kube/reflector.ts';
import type { Time } from '#crds/kube/time.ts';
import { conditionsOf, type Condition } from '#crds/contract/media-job-conditions.ts';
import { eventOf } from '#crds/media-jobs/media-job-events.ts';
import type { MediaJobClient, MediaJobEvent, NewMediaJob } from '#crds/media-jobs/media-job-client.ts';
import {
  mayFollow,
  mediaJobSpecSchema,
  mediaJobStatusSchema,
  type MediaJob,
  type MediaJobSpec,
  type MediaJobStatus,
} from '#crds/contract/media-job.ts';
import { API_GROUP, API_VERSION, KIND, PLURAL } from '#crds/contract/names.ts';
import type { Log } from '#crds/process/log.ts';
import { buildTicketSecret, encodedInput, isOwnedBy, ticketOf } from '#crds/contract/ticket-secret.ts';
import { withNulls, withoutNulls } from '#crds/contract/wire-form.ts';

export interface KubernetesMediaJobsDeps {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'mergePatch' | 'delete'>;
  /** Reflector of `mediaJobsPath`. */
  readonly reflector: Pick<Reflector, 'store' | 'synced' | 'watch'>;
  readonly events: EventRecorder;
  readonly time: Pick<Time, 'now' | 'monotonic'>;
  readonly log: Log;
  readonly metrics: Pick<KubeMetrics, 'staleRead'>;
}

/** Returns the path of the collection of MediaJobs of a namespace. */
export function mediaJobsPath(namespace: string): string {
  return `/apis/${API_GROUP}/${API_VERSION}/namespaces/${namespace}/${PLURAL}`;
}

/** Creates the client of a namespace. */
export function makeKubernetesMediaJobs(
  deps: KubernetesMediaJobsDeps,
  { namespace }: { namespace: string },
  signal: AbortSignal,
): MediaJobClient {
  const { client, reflector, time } = deps;
  const path = mediaJobsPath(namespace);
  const secrets = `/api/v1/namespaces/${namespace}/secrets`;
  const onStale = (): void => deps.metrics.staleRead(PLURAL);
  const view = makeOwnWrites({ reflector, monotonic: time.monotonic, onStale }, {}, signal);
  const seen = async (name: string): Promise<KubeObject | undefined> => {
    await reflector.synced;
    return view.get(name);
  };
  /** Returns the Secret of a MediaJob; null when it is missing or belongs to another MediaJob. */
  const secretOf = async (object: KubeObject): Promise<KubeObject | null> => {
    const secret = await orNull(client.get(`${secrets}/${mediaJobOf(object).spec.secretName}`), 404);
    return secret !== null && isOwnedBy(secret, object) ? secret : null;
  };
  const remove = async (object: KubeObject): Promise<void> => {
    const { name, uid } = object.metadata;
    await orNull(client.delete(`${path}/${name}`, { uid, propagationPolicy: 'Background' }), 404, 409);
    view.deleted(object);
  };

  return {
    async create(request) {
      const body = newObject(request);
      const object = await orNull(client.create(path, body), 409);
      if (object === null) return 'exists';
      view.wrote(object);
      try {
        const { ticket, labels, spec } = request;
        await client.create(secrets, buildTicketSecret({ owner: object, name: spec.secretName, ticket, labels }));
      } catch (error) {
        await remove(object);
        throw error;
      }
      return 'created';
    },
    async get(name) {
      const object = await seen(name);
      return object === undefined ? null : mediaJobOf(object);
    },
    async list() {
      await reflector.synced;
      return view.list().map(mediaJobOf);
    },
    async ticket(name) {
      const object = await seen(name);
      const secret = object === undefined ? null : await secretOf(object);
      return secret === null ? null : ticketOf(secret);
    },
    async resume(name, { inputSize, kind, ...input }) {
      const object = await seen(name);
      if (object === undefined) return false;
      const { spec, metadata } = mediaJobOf(object);
      if (!spec.suspend) return true;
      const secret = await secretOf(object);
      if (secret === null) return false;
      const { uid, resourceVersion } = secret.metadata;
      const complete = { metadata: { uid, resourceVersion }, data: encodedInput(input) };
      await client.mergePatch(`${secrets}/${spec.secretName}`, complete);
      const patch = { metadata: { uid: metadata.uid }, spec: { inputSize, kind, suspend: false } };
      const resumed = await orNull(client.mergePatch(`${path}/${name}`, patch), 404, 409);
      if (resumed !== null) view.wrote(resumed);
      return resumed !== null;
    },
    async updateStatus(mediaJob, status) {
      const next = mediaJobStatusSchema.parse(status);
      if (isDeepStrictEqual(mediaJob.status, next)) return 'updated';
      const { name, uid } = mediaJob.metadata;
      const object = await seen(name);
      if (object?.metadata.uid !== uid) return 'gone';
      if (!mayFollow(mediaJob.status, next)) return 'conflict';
      const written = await orNull(
        client.mergePatch(`${path}/${name}/status`, statusPatch(time.now(), { mediaJob, object, next })),
        404,
        409,
      );
      if (written === null) return whyNot(client, `${path}/${name}`, uid);
      view.wrote(written);
      const event = eventOf(mediaJob.status, next);
      if (event !== null) deps.events.record(referenceTo(object, namespace), event);
      return 'updated';
    },
    async delete(name, unexpected) {
      const object = await seen(name);
      if (object === undefined) return;
      if (unexpected !== undefined)
        deps.events.record(referenceTo(object, namespace), {
          type: 'Warning',
          reason: 'Unexpected',
          message: unexpected,
        });
      await remove(object);
    },
    watch(onEvent, ended) {
      reflector.watch(
        ({ type, object }) =>
          queueMicrotask(() => deliver(deps.log, { event: { type, mediaJob: mediaJobOf(object) }, onEvent, ended })),
        ended,
      );
    },
  };
}

function newObject({ name, labels, spec }: NewMediaJob): object {
  return {
    apiVersion: `${API_GROUP}/${API_VERSION}`,
    kind: KIND,
    metadata: { name, labels },
    spec: withoutNulls(mediaJobSpecSchema.parse(spec)),
  };
}

const translated = new WeakMap<KubeObject, MediaJob>();

/** Converts an object, which the API server has validated. */
function mediaJobOf(object: KubeObject): MediaJob {
  const known = translated.get(object);
  if (known !== undefined) return known;
  const { name, uid, resourceVersion, creationTimestamp, labels = {} } = object.metadata;
  const mediaJob: MediaJob = {
    metadata: { name, uid, resourceVersion, creationTimestamp, labels },
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

async function whyNot(client: Pick<KubeClient, 'get'>, path: string, uid: string): Promise<'conflict' | 'gone'> {
  const now = await orNull(client.get(path), 404);
  return now?.metadata.uid === uid ? 'conflict' : 'gone';
}

function referenceTo({ metadata: { name, uid } }: KubeObject, namespace: string) {
  return { apiVersion: `${API_GROUP}/${API_VERSION}`, kind: KIND, namespace, name, uid };
}

function deliver(
  log: Log,
  { event, onEvent, ended }: { event: MediaJobEvent; onEvent: (event: MediaJobEvent) => void; ended: AbortSignal },
): void {
  if (ended.aborted) return;
  try {
    onEvent(event);
  } catch (error) {
    log.error({ err: error, name: event.mediaJob.metadata.name }, 'a watcher failed');
  }
}

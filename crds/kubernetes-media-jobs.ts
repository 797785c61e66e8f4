/**
 * MediaJobs on an API server: custom resources, each with a Secret of its ticket that it owns. Reads come
 * from a watched store that never shows less than this process has written; a status write holds only for
 * the version that it was decided on, and the CRD's rules refuse late writers besides.
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
import { conditionsOf, type Condition } from '#crds/media-job-conditions.ts';
import { eventOf } from '#crds/media-job-events.ts';
import type { MediaJobClient, MediaJobEvent, NewMediaJob } from '#crds/media-job-client.ts';
import {
  mayFollow,
  mediaJobSpecSchema,
  mediaJobStatusSchema,
  type MediaJob,
  type MediaJobSpec,
  type MediaJobStatus,
} from '#crds/media-job.ts';
import { API_GROUP, API_VERSION, KIND, PLURAL } from '#crds/names.ts';
import type { Log } from '#crds/shared/log.ts';
import { buildTicketSecret, encodedInput, isOwnedBy, ticketOf } from '#crds/ticket-secret.ts';
import { withNulls, withoutNulls } from '#crds/wire-form.ts';

export interface KubernetesMediaJobsDeps {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'mergePatch' | 'delete'>;
  /** Of `mediaJobsPath`. */
  readonly reflector: Pick<Reflector, 'store' | 'synced' | 'watch'>;
  readonly events: EventRecorder;
  readonly time: Pick<Time, 'now' | 'monotonic'>;
  readonly log: Log;
  readonly metrics: Pick<KubeMetrics, 'staleRead'>;
}

/** Collection of the MediaJobs of a namespace. */
export function mediaJobsPath(namespace: string): string {
  return `/apis/${API_GROUP}/${API_VERSION}/namespaces/${namespace}/${PLURAL}`;
}

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
  /** null when it is not there, or is another MediaJob's. */
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

/** The API server has checked the object against the schema. */
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

/** False for the status that the CRD gives a MediaJob until the controller has written one. */
function isWritten(status: unknown): boolean {
  return typeof status === 'object' && status !== null && 'observedGeneration' in status;
}

/** A merge patch: what is null in it is deleted. */
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

/**
 * Manifest of the Kubernetes Job of a standby: the pod of an attempt without an attempt. It has no secret; its token of
 * the service account proves to the controller which pod it is, and the API server refuses that token. Pure.
 */
import { createHash } from 'node:crypto';
import {
  STANDBY_AUDIENCE,
  STANDBY_JOBS,
  STANDBY_KIND,
  STANDBY_TOKEN_FILE,
  STANDBY_URL,
} from '#crds/contract/run-files.ts';
import { LABELS } from '#crds/contract/names.ts';
import { BACKSTOP_SECONDS, COMPONENT, KEEP_SECONDS, ownerReference } from '#controller/job-manifest.ts';
import { runName, type RunRequest } from '#controller/runs.ts';
import type { StandbyKind, WorkerPod } from '#controller/worker-pod.ts';
import { buildWorkerTemplate, MOUNT_FOLDER } from '#controller/worker-template.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';

/** Annotation of a standby's Job with the hash of its template: another one means that it is outdated. */
export const TEMPLATE_ANNOTATION = 'mediajobs.dev/template';
/** Annotation of a standby's Job with the name of the run that it is bound to. */
export const BOUND_ANNOTATION = 'mediajobs.dev/bound-to';
/** Annotation of a standby's Job with the number of attempts that it has been bound to. */
export const JOBS_ANNOTATION = 'mediajobs.dev/jobs';
/** Maximum size of the input of a job that runs in a standby, in bytes. */
export const SMALL_INPUT_BYTES = 10_000_000;

const RUN_STANDBY = 'run-standby';
const TOKEN = 'token';
/** Lifetime of the token. The kubelet renews it. */
const TOKEN_SECONDS = 3600;
/** Time to live of the Job of a standby that has ended without a run, in seconds. */
const ENDED_KEEP_SECONDS = 600;
/** An autoscaler may evict a standby, although it has a volume for its files. */
const EVICTABLE = { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true' };

export interface StandbyTemplate {
  readonly kind: StandbyKind;
  readonly labels: Readonly<Record<string, string>>;
  readonly hash: string;
  readonly template: object;
  /** Maximum number of jobs of one standby. */
  readonly jobsPerPod: number;
}

export interface BindTerms {
  readonly now: Date;
  readonly jobsPerPod: number;
}

/** Returns the template of the standbys of a kind. `url`: where they ask for their run. */
export function buildStandbyTemplate(settings: WorkerPod, kind: StandbyKind, url: string): StandbyTemplate {
  const labels = { ...settings.labels, ...COMPONENT, [LABELS.standby]: kind, [LABELS.kind]: kind };
  const source = { audience: STANDBY_AUDIENCE, expirationSeconds: TOKEN_SECONDS, path: TOKEN };
  const template = buildWorkerTemplate(settings, {
    labels,
    annotations: EVICTABLE,
    kind: kind === 'unknown' ? null : kind,
    inputSize: SMALL_INPUT_BYTES,
    deadlineSeconds: null,
    script: RUN_STANDBY,
    environment: {
      [STANDBY_URL]: url,
      [STANDBY_TOKEN_FILE]: `${MOUNT_FOLDER}/${TOKEN}`,
      [STANDBY_KIND]: kind,
      [STANDBY_JOBS]: String(settings.jobsPerPod),
    },
    mounted: { projected: { defaultMode: 0o440, sources: [{ serviceAccountToken: source }] } },
  });
  const hash = createHash('sha256').update(JSON.stringify(template)).digest('hex').slice(0, 16);
  return { kind, labels, hash, template, jobsPerPod: settings.jobsPerPod };
}

/** Returns the manifest of a standby's Job. */
export function buildStandbyJob({ labels, hash, template }: StandbyTemplate, name: string): object {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, labels, annotations: { [TEMPLATE_ANNOTATION]: hash } },
    spec: {
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      ttlSecondsAfterFinished: ENDED_KEEP_SECONDS,
      template,
    },
  };
}

/** Returns the number of attempts that a standby has been bound to. */
export function jobsOf({ metadata }: KubeObject): number {
  return Number(metadata.annotations?.[JOBS_ANNOTATION] ?? 0);
}

/**
 * Returns the patch that binds a standby to an attempt, if its Job is still as it was read. A standby of several jobs is
 * not owned by one of them: the controller deletes it.
 */
export function bindPatch(job: KubeObject, request: RunRequest, { now, jobsPerPod }: BindTerms): object {
  const { metadata } = job;
  const { uid, resourceVersion, creationTimestamp } = metadata;
  const age = Math.max(0, Math.ceil((now.getTime() - Date.parse(creationTimestamp)) / 1000));
  return {
    metadata: {
      uid,
      resourceVersion,
      labels: { [LABELS.job]: request.owner.name, [LABELS.account]: request.account },
      annotations: {
        [BOUND_ANNOTATION]: runName(request.owner.name, request.attempt),
        [JOBS_ANNOTATION]: String(jobsOf(job) + 1),
      },
      ...(jobsPerPod > 1 ? {} : { ownerReferences: [ownerReference(request.owner)] }),
    },
    spec: {
      ttlSecondsAfterFinished: KEEP_SECONDS,
      activeDeadlineSeconds: age + request.spec.timeoutSeconds + BACKSTOP_SECONDS,
    },
  };
}

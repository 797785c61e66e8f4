/**
 * Leadership of controller and recorder in a cluster: the process that holds the Lease works on the namespace's
 * MediaJobs. It exits when it loses the Lease.
 */
import { hostname } from 'node:os';
import { nameWord } from '#crds/contract/ids.ts';
import type { Access } from '#crds/kube/access-check.ts';
import type { Connection } from '#crds/kube/connection.ts';
import { makeEventRecorder } from '#crds/kube/event-recorder.ts';
import {
  startLeaderProcess,
  type Leadership,
  type LeaderProcess,
  type LeaderProcessDeps,
} from '#crds/kube/leader-process.ts';
import { instanceSelector, type Installation } from '#crds/media-jobs/installation.ts';
import { KubernetesMediaJobs, mediaJobsPath } from '#crds/media-jobs/kubernetes-media-jobs.ts';
import type { MediaJobClient } from '#crds/media-jobs/media-job-client.ts';
import { API_GROUP, CRD_VERSION, CRD_NAME, PLURAL } from '#crds/contract/names.ts';
import type { SettingName, Settings } from '#crds/process/settings.ts';

/** Settings of a process that leads, for `settings.pick`. */
export const LEADER_SETTINGS = {
  KUBECONFIG: true,
  MEDIAJOBS_RELEASE: true,
  MEDIAJOBS_INSTANCE: true,
  MEDIAJOBS_NAMESPACE: true,
  MEDIAJOBS_POD_NAME: true,
  MEDIAJOBS_KUBE_QPS: true,
  MEDIAJOBS_KUBE_BURST: true,
} as const satisfies Partial<Record<SettingName, true>>;

export interface MediaJobLeadership extends Leadership {
  readonly mediaJobs: MediaJobClient;
}

interface MediaJobLeaderOptions {
  /** Suffix of the Lease's name. */
  readonly name: 'controller' | 'recorder';
  readonly config: Pick<Settings, keyof typeof LEADER_SETTINGS>;
  readonly access: readonly Access[];
  /** Suffix of the identity in the Lease: the address by which other processes reach the leader. */
  readonly address?: string;
  /** Starts the work and returns the function that stops it. Called once at most. */
  readonly work: (leadership: MediaJobLeadership) => { stop: () => Promise<void> };
}

/** Returns the namespace of MediaJobs and of the pods of jobs. */
export function workNamespace(
  { namespace }: Pick<Connection, 'namespace'>,
  config: Pick<Settings, 'MEDIAJOBS_NAMESPACE'>,
): string {
  return config.MEDIAJOBS_NAMESPACE ?? namespace;
}

/** Starts a process that leads as soon as the Lease is free. */
export function startMediaJobLeader(
  deps: LeaderProcessDeps,
  { name, config, access, address, work }: MediaJobLeaderOptions,
): LeaderProcess {
  const { connection, log } = deps;
  const installation = { namespace: workNamespace(connection, config), instance: config.MEDIAJOBS_INSTANCE };
  const identity = [config.MEDIAJOBS_POD_NAME ?? hostname(), nameWord(5), ...(address === undefined ? [] : [address])];
  return startLeaderProcess(deps, {
    lease: { namespace: connection.namespace, name: `${config.MEDIAJOBS_RELEASE}-${name}` },
    identity: identity.join('_'),
    rate: { perSecond: config.MEDIAJOBS_KUBE_QPS, burst: config.MEDIAJOBS_KUBE_BURST },
    needs: {
      namespace: installation.namespace,
      customResource: { groupVersion: `${API_GROUP}/${CRD_VERSION}`, plural: PLURAL, crd: CRD_NAME },
      access,
    },
    work: (leadership) => work({ ...leadership, mediaJobs: mediaJobsOf(deps, { name, ...installation }, leadership) }),
    onLost(reason) {
      log.fatal({ reason }, 'leadership lost, exiting');
      process.exit(1);
    },
  });
}

function mediaJobsOf(
  { time, log, metrics }: LeaderProcessDeps,
  { name, namespace, instance }: { name: string } & Installation,
  { client, signal, reflect }: Leadership,
): MediaJobClient {
  const events = makeEventRecorder(
    { client, time, log, newWord: () => nameWord(16) },
    { component: `mediajobs-${name}` },
  );
  const reflector = reflect({ path: mediaJobsPath(namespace), labelSelector: instanceSelector({ instance }) });
  return new KubernetesMediaJobs({ client, reflector, events, time, log, metrics }, { namespace, instance }, signal);
}

import { inject } from 'vitest';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { startReflector, type Reflector, type ReflectorOptions } from '#crds/kube/reflector.ts';
import { systemTime } from '#crds/kube/time.ts';
import { mediaJobsPath } from '#crds/media-jobs/kubernetes-media-jobs.ts';
import { API_GROUP, CRD_VERSION, jobIdOfName, KIND } from '#crds/contract/names.ts';
import { makeLog } from '#crds/process/log.ts';
import { buildTicketSecret } from '#crds/media-jobs/ticket-secret.ts';
import { withoutNulls } from '#crds/contract/wire-form.ts';
import { KubernetesRuns } from '#controller/kubernetes-runs.ts';
import { reflectRuns } from '#controller/run-objects.ts';
import { workerPodSchema } from '#controller/worker-pod.ts';
import { describeRuns } from '#test/contract/runs.ts';
import { buildSpec, buildTicket } from '#test/support/build-media-job.ts';
import { startFakeKubelet } from '#test/support/fake-kubelet.ts';
import { connectAs, makeNamespace } from '#test/support/kube-connection.ts';
import { silentReflectorMetrics } from '#test/support/silent-reflector-metrics.ts';

describeRuns('Kubernetes Jobs', async () => {
  const { client, close } = connectAs(inject('kubeconfig'));
  const namespace = await makeNamespace(client);
  const ended = new AbortController();
  const deps = { client, time: systemTime, log: makeLog('test', 'silent'), metrics: silentReflectorMetrics };
  const reflect = (options: Omit<ReflectorOptions, 'firstList'>): Reflector =>
    startReflector(deps, { firstList: 'consistent', ...options }, ended.signal);
  const kubelet = await startFakeKubelet(client, namespace);
  const adopted = new Map<string, Promise<KubeObject>>();
  const makeMediaJob = (name: string): Promise<KubeObject> =>
    client.create(mediaJobsPath(namespace), {
      apiVersion: `${API_GROUP}/${CRD_VERSION}`,
      kind: KIND,
      metadata: { name },
      spec: withoutNulls(buildSpec({ jobId: jobIdOfName(name) })),
    });
  return {
    slots: 2,
    runs: new KubernetesRuns(
      { ...deps, ...reflectRuns(reflect, { namespace, instance: 'mediajobs' }) },
      { namespace, instance: 'mediajobs', pod: workerPodSchema.parse({ image: 'worker' }), concurrency: 2 },
      ended.signal,
    ),
    async adopt({ owner: { name }, secretName, ticket }) {
      const owner = adopted.get(name) ?? makeMediaJob(name);
      adopted.set(name, owner);
      const data = { ticket: (await ticket()) ?? buildTicket(), labels: {} };
      const secret = buildTicketSecret({ owner: await owner, name: secretName, ...data });
      await client.create(`/api/v1/namespaces/${namespace}/secrets`, secret);
      return { name, uid: (await owner).metadata.uid };
    },
    async close() {
      await kubelet.close();
      ended.abort();
      await close();
    },
  };
});

/** Vitest's global set-up for tests against Kubernetes: one real control plane with our CRD for the whole run. */
import type { TestProject } from 'vitest/node';
import { connectAs } from '#test/support/kube-connection.ts';
import { startControlPlane } from '#test/support/control-plane.ts';
import { buildMediaJobCrd } from '#crds/contract/media-job-crd.ts';

declare module 'vitest' {
  interface ProvidedContext {
    kubeconfig: string;
  }
}

export default async function shareControlPlane(project: TestProject): Promise<() => Promise<void>> {
  const plane = await startControlPlane();
  const { client, close } = connectAs(plane.kubeconfig);
  await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', buildMediaJobCrd());
  await close();
  project.provide('kubeconfig', plane.kubeconfig);
  return plane.close;
}

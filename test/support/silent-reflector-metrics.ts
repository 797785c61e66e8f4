import type { KubeMetrics } from '#crds/kube/kube-metrics.ts';
import type { ReflectorMetrics } from '#crds/kube/reflector.ts';

export const silentReflectorMetrics: ReflectorMetrics & Pick<KubeMetrics, 'staleRead'> = {
  listed: () => undefined,
  watchRestarted: () => undefined,
  observeAge: () => undefined,
  staleRead: () => undefined,
};

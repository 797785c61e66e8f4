import type { ReflectorMetrics } from '#crds/kube/reflector.ts';

export const silentReflectorMetrics: ReflectorMetrics = {
  listed: () => undefined,
  watchRestarted: () => undefined,
  observeAge: () => undefined,
};

import type { Access } from '#crds/kube/access-check.ts';
import { API_GROUP, PLURAL } from '#crds/contract/names.ts';

/** Permissions of the recorder's service account in the namespace of MediaJobs, and for Leases in its own; equal to the chart's Role. */
export const RECORDER_ACCESS: readonly Access[] = [
  { group: API_GROUP, resource: PLURAL, verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  { group: '', resource: 'secrets', verbs: ['get', 'create', 'patch'] },
  { group: '', resource: 'events', verbs: ['create'] },
  { group: 'coordination.k8s.io', resource: 'leases', verbs: ['get', 'create', 'update'] },
];

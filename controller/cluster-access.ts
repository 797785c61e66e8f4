import type { Access } from '#crds/kube/access-check.ts';
import { API_GROUP, PLURAL } from '#crds/contract/names.ts';

/** Permissions of the controller's service account in the namespace of MediaJobs, and for Leases in its own; equal to the chart's Role. */
export const CONTROLLER_ACCESS: readonly Access[] = [
  { group: API_GROUP, resource: PLURAL, verbs: ['get', 'list', 'watch'] },
  { group: API_GROUP, resource: PLURAL, subresource: 'status', verbs: ['patch'] },
  { group: 'batch', resource: 'jobs', verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  { group: '', resource: 'pods', verbs: ['list', 'watch'] },
  { group: '', resource: 'events', verbs: ['create', 'list'] },
  { group: 'coordination.k8s.io', resource: 'leases', verbs: ['get', 'create', 'update'] },
];

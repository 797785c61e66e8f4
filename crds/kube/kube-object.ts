/** An object as an API server gives it: raw JSON, so that fields unknown to us survive. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: KubeMetadata;
  readonly [field: string]: unknown;
}

export interface KubeMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/**
 * Whether a resourceVersion is older than another. They are numbers since Kubernetes 1.35 by promise and
 * before that by fact; null when one of them is none, and nothing can be said.
 */
export function isOlder(version: string, than: string): boolean | null {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(than)) return null;
  return BigInt(version) < BigInt(than);
}

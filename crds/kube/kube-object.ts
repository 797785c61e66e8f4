/** Object of an API server as raw JSON, so that unknown fields are preserved. */
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
 * Returns true when a resourceVersion is older than another; null when one of them is no number. Kubernetes guarantees
 * numbers since 1.35; earlier versions use numbers, too.
 */
export function isOlder(version: string, than: string): boolean | null {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(than)) return null;
  return BigInt(version) < BigInt(than);
}

import { possibleKinds } from '#crds/contract/first-bytes.ts';
import type { Kind } from '#crds/catalogue/formats.ts';

/** Returns the only kind that a file with these first bytes can be; null when several are possible. */
export function kindByFirstBytes(head: Buffer): Kind | null {
  const [kind, ...others] = possibleKinds(head);
  return kind !== undefined && others.length === 0 ? kind : null;
}

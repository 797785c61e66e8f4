import type { ErrorCode } from '#crds/error-codes.ts';
import type { Format } from '#crds/formats.ts';

/** How a sample is made. */
export interface Recipe {
  readonly name: string;
  /** null: none of ours, on purpose. */
  readonly format: Format | null;
  /** What a payg account gets for it; null when the service works on it. */
  readonly error: ErrorCode | null;
  /** Makes the file in the folder under its name; those made before it are there. */
  readonly make: (directory: string) => Promise<unknown>;
}

/** A file that the service works on. */
export function sample(name: string, format: Format, make: Recipe['make']): Recipe {
  return { name, format, error: null, make };
}

import type { ErrorCode } from '#crds/contract/error-codes.ts';
import type { Format } from '#crds/catalogue/formats.ts';

/** Instructions for one sample. */
export interface Recipe {
  readonly name: string;
  /** null for a file that is not one of our formats. */
  readonly format: Format | null;
  /** Error code for a `payg` account; null when the service processes it. */
  readonly error: ErrorCode | null;
  /** Generates the file in the folder under its name; earlier samples exist already. */
  readonly make: (directory: string) => Promise<unknown>;
}

/** Returns a sample that the service can process. */
export function sample(name: string, format: Format, make: Recipe['make']): Recipe {
  return { name, format, error: null, make };
}

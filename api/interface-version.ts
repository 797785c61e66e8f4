/** Version of the API, which callers may pin with `Svc-Version` (docs/reference/basics.md#versioning). */
export const API_VERSION = '2026-10-01';

/** Version of the compression standard that results follow: docs/reference/standard-v1.md. */
export const STANDARD = 'v1';

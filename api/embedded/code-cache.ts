import { fileURLToPath } from 'node:url';

/**
 * Where Node keeps stripped and compiled code between starts (`NODE_COMPILE_CACHE`). With it a process
 * starts sooner and is about 17 MB smaller, because the code that strips types is never loaded.
 */
export const CODE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/mediajobs', import.meta.url));

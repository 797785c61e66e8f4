import { fileURLToPath } from 'node:url';

/**
 * Folder of Node's compile cache (`NODE_COMPILE_CACHE`). With a warm cache a process starts sooner and takes about
 * 17 MB less, because the code that strips types is never loaded.
 */
export const CODE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/mediajobs', import.meta.url));

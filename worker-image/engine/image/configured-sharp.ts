/**
 * sharp, configured for untrusted files. Only six loaders are unblocked: the build would also render SVG, and read the
 * thumbnail of a camera RAW as the image. Nothing is cached, and few threads are used.
 */
import { availableParallelism } from 'node:os';
import sharp from 'sharp';

const LOADERS = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif', 'Tiff'].map((name) => `VipsForeignLoad${name}`);
const MAX_THREADS = 4;

sharp.cache(false);
sharp.concurrency(Math.min(MAX_THREADS, availableParallelism()));
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: LOADERS });

export { sharp };

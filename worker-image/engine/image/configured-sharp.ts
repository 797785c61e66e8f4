/**
 * sharp, made safe for strangers' files: only the six loaders that the engine means to use may open
 * anything (the build would also render SVG, and would take a camera RAW for its thumbnail), nothing is
 * cached, and few threads are used.
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

/**
 * Runs the benches that are named, all of them without a name: `node test/bench/run.ts [name …]`. Each is a module
 * that prints its figures when it is loaded. They depend on the machine and on what else it does; nothing fails on them.
 */

const BENCHES: Readonly<Record<string, () => Promise<unknown>>> = {
  interface: () => import('#test/bench/interface.ts'),
  'peak-memory': () => import('#test/bench/peak-memory.ts'),
  'pdf-size': () => import('#test/bench/pdf-size.ts'),
  'video-time': () => import('#test/bench/video-time.ts'),
  'office-time': () => import('#test/bench/office-time.ts'),
  'direct-throughput': () => import('#test/bench/direct-throughput.ts'),
  'direct-cost': () => import('#test/bench/direct-cost.ts'),
  'image-memory': () => import('#test/bench/image-memory.ts'),
  soak: () => import('#test/bench/soak.ts'),
  'image-quality': () => import('#test/bench/image-quality.ts'),
  'cluster-scale': () => import('#test/bench/cluster-scale.ts'),
  'cluster-jobs': () => import('#test/bench/cluster-jobs.ts'),
  'hot-paths': () => import('#test/bench/hot-paths.ts'),
  service: () => import('#test/bench/running-service.ts'),
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(BENCHES);
for (const name of names) {
  const bench = BENCHES[name];
  if (bench === undefined)
    throw new Error(`There is no bench ${name}. The benches are ${Object.keys(BENCHES).join(', ')}.`);
  process.stdout.write(`${name}\n`);
  await bench();
}

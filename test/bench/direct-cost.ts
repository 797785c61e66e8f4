/**
 * CPU time of direct requests by process, in milliseconds a request: for a tiny file, whose image costs next to nothing,
 * and for two photos.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { wholePicture } from '#test/bench/calibration-set.ts';
import { startBenchService } from '#test/bench/peers/bench-service.ts';
import { print } from '#test/bench/print-figures.ts';
import { requestCost, MEASURED_ROLES } from '#test/bench/request-cost.ts';
import { tinyImage } from '#test/bench/tiny-image.ts';

const CALLERS = [1, 4];
const REQUESTS = 60;
const WARM_UP = 60;

const cache = process.env['MEDIAJOBS_BENCH_CACHE'] ?? join(homedir(), '.cache', 'mediajobs-bench');
const files: readonly (readonly [name: string, bytes: Buffer, path: string])[] = [
  ['tiny', await tinyImage(), '/v1/compress'],
  [
    '6-megapixel photo to 2000 pixels',
    await photo('picosdeeuropa_by_Aitzol_Berasategi.jpg', 3000, 2000),
    '/v1/compress?image.resize.width=2000&image.resize.height=2000',
  ],
  [
    '12-megapixel photo at full size',
    await photo('sunset_by_Aitzol_Berasategi.jpg', 4000, 3000),
    '/v1/compress?image.resize=false',
  ],
];
const folder = await mkdtemp(join(tmpdir(), 'mediajobs-bench-'));
const service = await startBenchService(folder);
try {
  print('ms of CPU a request', ...MEASURED_ROLES, 'all', 'p50 ms');
  for (const [name, bytes, path] of files) {
    for (const callers of CALLERS) {
      await requestCost(service, { callers, requests: WARM_UP, path, bytes });
      const { cpuMs, p50 } = await requestCost(service, { callers, requests: REQUESTS, path, bytes });
      const all = MEASURED_ROLES.reduce((sum, step) => sum + cpuMs[step], 0);
      const figures = [...MEASURED_ROLES.map((step) => cpuMs[step]), all, p50];
      print(`  ${name}, ${callers} at once`, ...figures.map((ms) => ms.toFixed(1)));
    }
  }
} finally {
  await service.stop();
  await rm(folder, { recursive: true });
}

async function photo(file: string, width: number, height: number): Promise<Buffer> {
  return sharp(await wholePicture(cache, file))
    .resize(width, height, { fit: 'cover' })
    .jpeg({ quality: 92 })
    .toBuffer();
}

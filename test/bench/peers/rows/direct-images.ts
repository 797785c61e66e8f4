/** Pictures over HTTP, one request each: throughput, waiting, memory and bytes at an equal similarity. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { wholePicture } from '#test/bench/calibration-set.ts';
import { ssimulacra2 } from '#test/bench/ssimulacra2.ts';
import { closedLoop } from '../closed-loop.ts';
import { startImageServers, type ImageServer, type ImageWish } from '../image-servers.ts';
import { similarityTo, openGuesses, tuneTo, type Guesses, type Similarity } from '../similarity.ts';
import { OURS, readMeasured, samplesOf } from '../measured.ts';
import { cpuOfEach } from '../process-cpu.ts';
import { peakMemory } from '../process-memory.ts';
import { Samples, type Bench, type CaseFigures, type Row } from '../row.ts';

interface PictureCase {
  readonly picture: 'mountains.jpg' | 'sunset.jpg' | 'screen.png' | 'moving.gif';
  readonly format: ImageWish['format'];
  readonly side?: number;
  /** The service's `image.quality`, 75 by default. */
  readonly quality?: number;
  readonly callers: readonly number[];
}

const ALL_CALLERS = [1, 2, 4, 8, 16];
/** Where the table shows the waiting. */
const SHOWN_CALLERS = [1, 4, 16];
const CASES: Readonly<Record<string, PictureCase>> = {
  '6-megapixel photo to 2000 pixels, jpg': {
    picture: 'mountains.jpg',
    format: 'jpg',
    side: 2000,
    callers: ALL_CALLERS,
  },
  '6-megapixel photo to 2000 pixels, webp': {
    picture: 'mountains.jpg',
    format: 'webp',
    side: 2000,
    callers: ALL_CALLERS,
  },
  '6-megapixel photo to 2000 pixels, avif': {
    picture: 'mountains.jpg',
    format: 'avif',
    side: 2000,
    callers: [1, 2],
  },
  '12-megapixel photo at full size, jpg': { picture: 'sunset.jpg', format: 'jpg', callers: ALL_CALLERS },
  '12-megapixel photo at full size, webp': { picture: 'sunset.jpg', format: 'webp', callers: SHOWN_CALLERS },
  '12-megapixel photo at full size, avif': { picture: 'sunset.jpg', format: 'avif', callers: [1] },
  '1-megapixel screenshot, png': { picture: 'screen.png', format: 'png', callers: ALL_CALLERS },
  '1-megapixel screenshot, webp': { picture: 'screen.png', format: 'webp', callers: ALL_CALLERS },
  'animation of 20 frames, gif': { picture: 'moving.gif', format: 'gif', callers: ALL_CALLERS },
  // As the peers write it by default.
  'animation of 20 frames, gif, every pixel kept': {
    picture: 'moving.gif',
    format: 'gif',
    quality: 100,
    callers: [1, 4, 16],
  },
  'animation of 20 frames, webp': { picture: 'moving.gif', format: 'webp', callers: ALL_CALLERS },
};
const SECONDS = 2;
const MEMORY_CALLERS = 4;
/** Share of the service's rate below which a peer is measured in the first round only: a round of it takes minutes. */
const FAR_BEHIND = 1 / 3;
/** Processes of the service that a direct request passes through, as the table shows their CPU time. */
const STEPS = ['api', 'engine', 'engine child'];
const FRAMES = { count: 20, width: 480, height: 320, step: 12 } as const;

export const directImages: Row = {
  title: 'Images in one request',
  about: `One server each, on loopback, on all cores; callers send the next request as soon as they have the response. Seconds count from the
first response of the last caller on. The service receives the file over HTTPS and uses its default quality (\`image.quality\` 75; 100 where every pixel is kept), in a process that opens files of one account only. thumbor
and ipx read the file from a folder, a fastify server around sharp receives it as the body, all over plain http. For jpg,
webp and avif their quality number is the lowest with which the result is as similar to the input (SSIMULACRA2) as the service's;
everything else is their default. A peer with less than a third of the service's rate is measured in one round. Memory and CPU time are those at ${MEMORY_CALLERS} callers: memory of all processes that the image passes
through, where shared pages are divided among them; CPU time of the whole service, PostgreSQL and Redis too, and of its API,
engine and the process that decodes.`,
  peers: ['thumbor', 'ipx', 'fastify + sharp', 'imgproxy'],
  columns: [
    ...ALL_CALLERS.map((callers) => ({
      title: `a second, ${callers} at once`,
      metrics: [`per second at ${callers}`],
      digits: 2,
      noise: true,
      ratio: true,
    })),
    ...SHOWN_CALLERS.map((callers) => ({
      title: `ms p50 / p99, ${callers} at once`,
      metrics: [`p50 at ${callers}`, `p99 at ${callers}`],
      digits: 0,
    })),
    { title: 'CPU ms a request', metrics: ['cpu'], digits: 0, ratio: true },
    { title: STEPS.join(' / '), metrics: STEPS, digits: 0 },
    { title: 'MiB', metrics: ['memory'], digits: 0 },
    { title: 'bytes', metrics: ['bytes'], digits: 0, ratio: true },
    { title: 'SSIMULACRA2', metrics: ['score'], digits: 1 },
    { title: 'its quality number', metrics: ['quality'], digits: 0 },
  ],
  front: {
    speed: { metrics: ALL_CALLERS.map((callers) => `per second at ${callers}`), better: 'more' },
    size: 'bytes',
    similarity: 'score',
  },
  cases: Object.keys(CASES),
  measure,
};

async function* measure(bench: Bench): AsyncGenerator<CaseFigures> {
  const pictures = await writePictures(bench);
  const score = await ssimulacra2(bench.cache);
  const guesses = await openGuesses(bench.cache);
  const servers = await startImageServers(bench.peers, bench.folder);
  try {
    for (const [name, one] of Object.entries(CASES)) {
      if (!bench.wanted(name)) continue;
      const bytes = pictures[one.picture];
      const reference = one.side === undefined ? bytes : await shrunk(bytes, one.side);
      const similarity = await similarityTo(score, bench.folder, reference);
      yield { name, ...(await measureCase(bench, { name, one, bytes, similarity, guesses, servers })) };
    }
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

interface Measuring {
  readonly name: string;
  readonly one: PictureCase;
  readonly bytes: Buffer;
  readonly similarity: Similarity;
  readonly guesses: Guesses;
  readonly servers: readonly ImageServer[];
}

async function measureCase(
  bench: Bench,
  { name, one, bytes, similarity, guesses, servers }: Measuring,
): Promise<Omit<CaseFigures, 'name'>> {
  const samples = new Samples();
  const remarks: Record<string, string> = {};
  const { picture, format, side, quality: ownQuality, callers } = one;
  const plainFor = ({ who }: ImageServer): ImageWish => ({
    file: picture,
    bytes,
    format,
    ...(side === undefined ? {} : { side }),
    ...(ownQuality === undefined || who !== OURS ? {} : { quality: ownQuality }),
  });
  const wishes = new Map<ImageServer, ImageWish>();
  const before = readMeasured('images').find((measured) => measured.name === name) ?? { figures: [] };
  let wanted = 0;
  for (const server of servers) {
    bench.say(`${name}: ${server.who} is tuned`);
    const plain = plainFor(server);
    try {
      // Without a guess an AVIF of some peers takes minutes to tune: the number of the last measurement is stored with it.
      const [guess = guesses.of(`${name}, ${server.who}`)] = samplesOf(before, server.who, 'quality');
      const found = await tune(server, { plain, similarity, guess, wanted: server.who === OURS ? null : wanted });
      if (server.who === OURS) wanted = found.score;
      const { quality } = found;
      wishes.set(server, { ...plain, ...(quality === undefined ? {} : { quality }) });
      samples.add(server.who, 'bytes', found.bytes);
      samples.add(server.who, 'score', found.score);
      if (quality !== undefined) {
        samples.add(server.who, 'quality', quality);
        await guesses.keep(`${name}, ${server.who}`, quality);
      }
      if (found.remark !== undefined) remarks[server.who] = found.remark;
    } catch (error) {
      if (server.who === OURS) throw error;
      remarks[server.who] = `cannot do it (${error instanceof Error ? error.message : String(error)})`;
    }
  }
  for (let round = 0; round < bench.rounds; round += 1)
    for (const atOnce of callers)
      for (const [server, wish] of inSight(wishes, samples, atOnce)) {
        bench.say(`${name}: round ${round + 1} of ${bench.rounds}, ${atOnce} at once, ${server.who}`);
        const found = await closedLoop({ callers: atOnce, seconds: SECONDS, send: () => server.convert(wish) });
        samples.add(server.who, `per second at ${atOnce}`, found.perSecond);
        samples.add(server.who, `p50 at ${atOnce}`, found.p50);
        samples.add(server.who, `p99 at ${atOnce}`, found.p99);
      }
  for (const [server, wish] of wishes) {
    const work = (): Promise<unknown> =>
      closedLoop({ callers: MEMORY_CALLERS, seconds: 1, send: () => server.convert(wish) });
    samples.add(server.who, 'memory', await peakMemory(server.pids, work));
    for (const [metric, ms] of await cpuOfRequests(server, wish)) samples.add(server.who, metric, ms);
  }
  return { figures: samples.figures, remarks };
}

/** Returns the servers without those that a round has shown to have less than `FAR_BEHIND` of the service's rate. */
function inSight<Wish>(
  wishes: ReadonlyMap<ImageServer, Wish>,
  samples: Samples,
  callers: number,
): (readonly [ImageServer, Wish])[] {
  const rateOf = (who: string): number => samplesOf(samples, who, `per second at ${callers}`)[0] ?? Infinity;
  return [...wishes].filter(([{ who }]) => rateOf(who) >= rateOf(OURS) * FAR_BEHIND);
}

/** Returns milliseconds of CPU a request, of all processes as `cpu` and of each of the steps. */
async function cpuOfRequests(server: ImageServer, wish: ImageWish): Promise<readonly (readonly [string, number])[]> {
  let requests = 0;
  const send = async (): Promise<void> => {
    await server.convert(wish);
    requests += 1;
  };
  const found = await cpuOfEach(server.processes, () =>
    closedLoop({ callers: MEMORY_CALLERS, seconds: SECONDS, send }),
  );
  const msOf = (roles: readonly string[] | null): number =>
    found.reduce(
      (sum, { process, seconds }) => (roles?.includes(process.role) === false ? sum : sum + 1000 * seconds),
      0,
    ) / requests;
  const steps = server.who === OURS ? STEPS.map((step) => [step, msOf([step])] as const) : [];
  return [['cpu', msOf(null)], ...steps];
}

interface TunedServer {
  readonly bytes: number;
  readonly score: number;
  readonly quality?: number;
  readonly remark?: string;
}

const LOSSY: readonly ImageWish['format'][] = ['jpg', 'webp', 'avif'];

/** @param wanted - null for the default quality. */
async function tune(
  server: ImageServer,
  {
    plain,
    similarity,
    guess,
    wanted,
  }: { plain: ImageWish; similarity: Similarity; guess: number; wanted: number | null },
): Promise<TunedServer> {
  let remark: { readonly remark?: string } = {};
  const encode = async (quality?: number): Promise<{ bytes: Buffer; score: number }> => {
    const bytes = await server.convert({ ...plain, ...(quality === undefined ? {} : { quality }) });
    const { format, pages = 1 } = await sharp(bytes).metadata();
    remark = pages > 1 || plain.file !== 'moving.gif' ? {} : { remark: `gives one frame as ${format}` };
    return { bytes, score: await similarity.of(bytes) };
  };
  if (wanted !== null && LOSSY.includes(plain.format)) {
    const tuned = await tuneTo({ wanted, guess, encode });
    if (tuned !== null) return { ...tuned, ...remark };
  }
  const { bytes, score } = await encode();
  return { bytes: bytes.length, score, ...remark };
}

async function writePictures({ cache, folder }: Bench): Promise<Record<PictureCase['picture'], Buffer>> {
  const photo = async (file: string, width: number, height: number): Promise<Buffer> =>
    sharp(await wholePicture(cache, file))
      .resize(width, height, { fit: 'cover' })
      .jpeg({ quality: 92 })
      .toBuffer();
  const pictures = {
    // At 2000 pixels its height is whole: servers round a fraction in different ways, which costs a point of similarity.
    'mountains.jpg': await photo('picosdeeuropa_by_Aitzol_Berasategi.jpg', 3000, 2001),
    'sunset.jpg': await photo('sunset_by_Aitzol_Berasategi.jpg', 4000, 3000),
    'screen.png': await wholePicture(cache, 'pcbnew_user_interface.png'),
    'moving.gif': await moving(await wholePicture(cache, 'Dune.jpg')),
  };
  for (const [file, bytes] of Object.entries(pictures)) await writeFile(join(folder, file), bytes);
  return pictures;
}

/** The view moves over the photo. */
async function moving(photo: Buffer): Promise<Buffer> {
  const { count, width, height, step } = FRAMES;
  const frames = Array.from({ length: count }, (_, at) =>
    sharp(photo)
      .extract({ left: at * step, top: 100, width, height })
      .png({ compressionLevel: 1 })
      .toBuffer(),
  );
  return sharp(await Promise.all(frames), { join: { animated: true } })
    .gif()
    .toBuffer();
}

function shrunk(bytes: Buffer, side: number): Promise<Buffer> {
  const fit = { fit: 'inside', withoutEnlargement: true } as const;
  return sharp(bytes).resize(side, side, fit).png({ compressionLevel: 1 }).toBuffer();
}

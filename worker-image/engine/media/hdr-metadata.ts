/** What a PQ picture says of the screen that it was made on, in the form that x265 takes. */
import { z } from 'zod';
import type { EngineDeps } from '#worker-image/engine/handler.ts';
import { runFfprobe, type MediaFile } from '#worker-image/tools/ffmpeg.ts';

export interface HdrMetadata {
  /** x265's `master-display`: primaries and white in 1/50,000, luminance in 1/10,000 cd/m². Null when not said. */
  readonly masterDisplay: string | null;
  /** x265's `max-cll`: the lightest dot and the lightest mean of a frame, in cd/m². Null when not said. */
  readonly maxLight: string | null;
}

const sideDataSchema = z.looseObject({ side_data_type: z.string().catch('') });
type SideData = z.infer<typeof sideDataSchema>;

const framesSchema = z.object({
  frames: z.array(z.object({ side_data_list: z.array(sideDataSchema).optional().default([]) })).default([]),
});

const CHROMA_UNITS = 50_000;
const LUMINANCE_UNITS = 10_000;

interface HdrPicture {
  readonly input: MediaFile;
  readonly directory: string;
  /** Index of the video stream. */
  readonly stream: number;
}

/** Reads it off the first frame: not every container repeats it. */
export async function readHdrMetadata(
  deps: Pick<EngineDeps, 'run' | 'signal'>,
  { input, directory, stream }: HdrPicture,
): Promise<HdrMetadata> {
  const printed = await runFfprobe(deps, { input, entries: 'frame_side_data', directory, firstFrameOf: stream });
  const frames = framesSchema.safeParse(printed);
  const sideData = frames.success ? frames.data.frames.flatMap((frame) => frame.side_data_list) : [];
  const named = (name: string): SideData | undefined => sideData.find((data) => data.side_data_type.startsWith(name));
  return { masterDisplay: masterDisplayOf(named('Mastering')), maxLight: maxLightOf(named('Content light')) };
}

function masterDisplayOf(data: SideData | undefined): string | null {
  if (data === undefined) return null;
  const chroma = (name: string): string => {
    const [x, y] = ['x', 'y'].map((axis) => units(data[`${name}_${axis}`], CHROMA_UNITS));
    return `(${x},${y})`;
  };
  const [most, least] = ['max', 'min'].map((end) => units(data[`${end}_luminance`], LUMINANCE_UNITS));
  const text = `G${chroma('green')}B${chroma('blue')}R${chroma('red')}WP${chroma('white_point')}L(${most},${least})`;
  return text.includes('NaN') ? null : text;
}

function maxLightOf(data: SideData | undefined): string | null {
  const [peak, mean] = [Number(data?.['max_content']), Number(data?.['max_average'])];
  return peak > 0 && mean >= 0 ? `${peak},${mean}` : null;
}

/** ffprobe prints `34000/50000`. */
function units(fraction: unknown, perOne: number): number {
  const [, above, below] = /^(\d{1,12})\/(\d{1,12})$/.exec(typeof fraction === 'string' ? fraction : '') ?? [];
  return Math.round((Number(above) / Number(below)) * perOne);
}

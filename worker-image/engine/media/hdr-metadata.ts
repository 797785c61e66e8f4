/** The HDR metadata of PQ video, in the syntax of x265. */
import { z } from 'zod';
import type { EngineDeps } from '#worker-image/engine/handler.ts';
import { runFfprobe, type MediaFile } from '#worker-image/tools/ffmpeg.ts';

export interface HdrMetadata {
  /** x265's `master-display`: primaries and white in 1/50,000, luminance in 1/10,000 cd/m²; null when missing. */
  readonly masterDisplay: string | null;
  /** x265's `max-cll`: maximum luminance of a pixel, and of a frame's mean, in cd/m²; null when missing. */
  readonly maxLight: string | null;
}

const sideDataSchema = z.looseObject({ side_data_type: z.string().catch('') });
type SideData = z.infer<typeof sideDataSchema>;

const framesSchema = z.object({
  frames: z.array(z.object({ side_data_list: z.array(sideDataSchema).optional().default([]) })).default([]),
});

const CHROMA_UNITS = 50_000;
const LUMINANCE_UNITS = 10_000;

interface HdrVideo {
  readonly input: MediaFile;
  readonly directory: string;
  /** Index of the video stream. */
  readonly stream: number;
}

/** Reads the HDR metadata of the first frame: not every container repeats it. */
export async function readHdrMetadata(
  deps: Pick<EngineDeps, 'run' | 'signal'>,
  { input, directory, stream }: HdrVideo,
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
  const [max, min] = ['max', 'min'].map((end) => units(data[`${end}_luminance`], LUMINANCE_UNITS));
  const text = `G${chroma('green')}B${chroma('blue')}R${chroma('red')}WP${chroma('white_point')}L(${max},${min})`;
  return text.includes('NaN') ? null : text;
}

function maxLightOf(data: SideData | undefined): string | null {
  const [peak, mean] = [Number(data?.['max_content']), Number(data?.['max_average'])];
  return peak > 0 && mean >= 0 ? `${peak},${mean}` : null;
}

/** Returns a fraction as printed by ffprobe, such as `34000/50000`, in the given units; NaN for anything else. */
function units(fraction: unknown, perOne: number): number {
  const [, above, below] = /^(\d{1,12})\/([1-9]\d{0,11})$/.exec(typeof fraction === 'string' ? fraction : '') ?? [];
  return Math.round((Number(above) / Number(below)) * perOne);
}

/** The display matrix of a video, by which players rotate and flip its frames. Pure. */

/** Side data of a stream, as ffprobe prints it. */
interface SideData {
  /** Counterclockwise rotation in degrees; 0 for side data without one. */
  readonly rotation: number;
  /** The matrix in three rows; empty for other side data. */
  readonly displaymatrix: string;
}

/** A stream as ffprobe prints it. */
interface VideoWithSideData {
  readonly side_data_list?: readonly SideData[] | undefined;
}

/**
 * Returns the clockwise rotation in degrees: 0, 90, 180 or 270. ffprobe prints the smallest 64-bit integer for a display
 * matrix of zeros, which ffmpeg does not apply.
 */
export function rotationOf(video: VideoWithSideData | null): number {
  const rotations = video?.side_data_list?.map((data) => data.rotation) ?? [];
  const counterClockwise = rotations.find((degrees) => degrees !== 0 && Math.abs(degrees) <= 360) ?? 0;
  return (((-Math.round(counterClockwise / 90) * 90) % 360) + 360) % 360;
}

/** The numbers of a display matrix that rotate and flip: the first two of its first two rows. */
const MATRIX = /^\s*0+:\s+(-?\d+)\s+(-?\d+)\s+-?\d+\s+0+1:\s+(-?\d+)\s+(-?\d+)/;

/** Returns whether a display matrix rotates or flips. The rotation of a vertical flip is 0. */
export function isTransformed(video: VideoWithSideData | null): boolean {
  return (video?.side_data_list ?? []).some(({ displaymatrix }) => {
    const [, a = 0, b = 0, c = 0, d = 0] = MATRIX.exec(displaymatrix)?.map(Number) ?? [];
    return a < 0 || b !== 0 || c !== 0 || d < 0;
  });
}

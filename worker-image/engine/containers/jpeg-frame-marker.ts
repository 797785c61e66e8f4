/** Markers without length and content: TEM, restarts, start and end of image. */
function isAlone(marker: number): boolean {
  return marker === 0x01 || (marker >= 0xd0 && marker <= 0xd9);
}

/** Markers in the range of frames that are tables: DHT, JPG, DAC. */
const NO_FRAMES: readonly number[] = [0xc4, 0xc8, 0xcc];
const START_OF_SCAN = 0xda;

function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.includes(marker);
}

/**
 * Returns the marker that starts the frame of a JPEG, 0xc0 to 0xcf, which tells how its image is coded. Returns null for a
 * file without one before its first scan. Source: ITU-T T.81, table B.1.
 */
export function jpegFrameMarker(file: Buffer): number | null {
  let at = 2;
  while (at + 4 <= file.length) {
    const marker = file[at + 1] ?? 0;
    if (file[at] !== 0xff || marker === 0xff || marker === 0) at += 1;
    else if (isAlone(marker)) at += 2;
    else if (marker === START_OF_SCAN) return null;
    else if (isFrame(marker)) return marker;
    else at += 2 + file.readUInt16BE(at + 2);
  }
  return null;
}

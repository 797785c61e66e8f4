/** Motion photos: JPEG files with a short video behind the image. Sources: Google's Motion Photo format 1.0, ExifTool. */
import { withFileReader } from '#worker-image/engine/containers/file-reader.ts';
import { readJpegHeaders } from '#worker-image/engine/containers/jpeg-headers.ts';
import { readWhole } from '#worker-image/engine/image/read-whole.ts';

export const MOTION_PHOTO_WARNING = 'The video of the motion photo was dropped.';

/** Properties of Google's XMP, as attributes and as elements, without their namespaces: `GCamera` or `Camera`. */
const XMP_NAMES = ['MotionPhoto="1"', 'MicroVideo="1"', 'MotionPhoto>1<', 'MicroVideo>1<'];
/** Box type at the start of a video. */
const VIDEO_START = 'ftyp';
/** Last bytes of the data that Samsung appends, which may be a video, and the name of the video in it. */
const [SAMSUNG_END, SAMSUNG_VIDEO] = ['SEFT', 'MotionPhoto_Data'];

/** Returns whether a JPEG is a motion photo. Only a file that may be one, by its headers and last bytes, is read whole. */
export async function hasMotionVideo(path: string): Promise<boolean> {
  const { headers, end } = await withFileReader(path, async (jpeg) => ({
    headers: await readJpegHeaders(jpeg),
    end: await jpeg.read(jpeg.size - SAMSUNG_END.length, SAMSUNG_END.length),
  }));
  // Programs that edit a motion photo drop the video and keep the XMP.
  if (XMP_NAMES.some((name) => headers.includes(name))) return (await readWhole(path)).includes(VIDEO_START);
  return end.toString('latin1') === SAMSUNG_END && (await readWhole(path)).includes(SAMSUNG_VIDEO);
}

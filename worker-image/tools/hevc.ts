/** Whether the image was built with HEVC, which is H.265 video and HEIC images. */
import { existsSync } from 'node:fs';

/** File of an ffmpeg that `worker-image/build-ffmpeg` has built without HEVC. */
const WITHOUT_HEVC_FILE = '/usr/share/mediajobs/without-hevc';

/** Returns true in an image that was built with `HEVC=no`. */
export function isWithoutHevc(): boolean {
  return existsSync(WITHOUT_HEVC_FILE);
}

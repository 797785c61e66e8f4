import { readableHeif } from '#worker-image/engine/image/heif-sequence.ts';
import { readablePng } from '#worker-image/engine/image/late-exif.ts';
import type { ImageFile } from '#worker-image/engine/image/read-image-facts.ts';

/** The path of the file itself, or that of a copy in its directory where the image library would not read it as others do. */
export async function readableCopy(file: ImageFile): Promise<string> {
  const { format, path } = file;
  if (format === 'avif' || format === 'heic') return readableHeif(file);
  return format === 'png' ? readablePng(file) : path;
}

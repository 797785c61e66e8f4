import type { Format } from '#crds/catalogue/formats.ts';
import { ASF_HEADER, asfStreamTypes, parseAsfObject } from '#worker-image/engine/containers/asf.ts';
import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';

const MAX_HEADER_BYTES = 1024 * 1024;

/** Returns the Windows Media format by the types of the streams; null when the file is not ASF. */
export async function formatOfAsf(file: FileReader): Promise<Format | null> {
  const header = parseAsfObject(file.head, 0);
  if (header === null || !header.id.equals(ASF_HEADER) || file.head.length < 30) return null;
  const types = asfStreamTypes(await file.read(0, Math.min(header.end, MAX_HEADER_BYTES)));
  if (types.includes('video')) return 'wmv';
  if (types.includes('audio')) return 'wma';
  throw unsupported('a Windows Media file without audio or video');
}

/** Removes the metadata of a WMA: its objects become padding of the same size, so that no offset changes. */
import { MediaError } from '#crds/contract/media-error.ts';
import {
  ASF_HEADER,
  ASF_HEADER_EXTENSION,
  ASF_METADATA,
  ASF_OBJECT_HEADER_BYTES,
  ASF_PADDING,
  parseAsfObject,
  type AsfObject,
} from '#worker-image/engine/containers/asf.ts';

/** Bytes of the header object, and of the header extension, before their nested objects. */
const HEADER_BYTES = 30;
const EXTENSION_BYTES = 46;

/** Returns a copy of the file without metadata. @throws MediaError processing_failed when the header is damaged. */
export function stripAsf(original: Buffer): Buffer {
  const file = Buffer.from(original);
  const header = objectAt(file, 0);
  if (!header.id.equals(ASF_HEADER)) throw damaged();
  // No recursion: a hostile file nests extensions by the thousand.
  const pending = [{ start: HEADER_BYTES, end: header.end }];
  for (let range = pending.pop(); range !== undefined; range = pending.pop()) {
    for (const extension of blankMetadata(file, range))
      pending.push({ start: extension.start + EXTENSION_BYTES, end: extension.end });
  }
  return file;
}

/** Blanks the metadata objects of a range and yields its extensions. */
function* blankMetadata(file: Buffer, { start, end }: { start: number; end: number }): Generator<AsfObject> {
  let at = start;
  while (at + ASF_OBJECT_HEADER_BYTES <= end) {
    const object = objectAt(file, at);
    if (object.end > end) throw damaged();
    if (ASF_METADATA.some((id) => object.id.equals(id))) {
      ASF_PADDING.copy(file, at);
      file.fill(0, object.body, object.end);
    } else if (object.id.equals(ASF_HEADER_EXTENSION)) yield object;
    at = object.end;
  }
}

function objectAt(file: Buffer, at: number): AsfObject {
  const object = parseAsfObject(file.subarray(at), at);
  if (object === null || object.end > file.length || object.end < object.body) throw damaged();
  return object;
}

function damaged(): MediaError {
  return new MediaError('processing_failed', 'The wma file is damaged: its header is inconsistent.');
}

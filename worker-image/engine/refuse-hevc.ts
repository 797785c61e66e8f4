/** Refusals of an engine whose image was built without HEVC (`HEVC=no` in worker-image/Dockerfile). */
import type { Format } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { WorkOrder } from '#crds/contract/work-order.ts';
import { outputFormatOf } from '#crds/contract/work-rules.ts';

const CAUSE = 'this service was built without HEVC';

/** Returns the refusal of a HEIC image, or of a result that would be one; null for others. */
export function heicRefusal(order: Pick<WorkOrder, 'operation' | 'options'>, input: Format): MediaError | null {
  if (input === 'heic') {
    const message = `The file is heic, which cannot be decoded: ${CAUSE}. Send it as jpg, png or avif.`;
    return new MediaError('unsupported_input', message);
  }
  if (outputFormatOf(order, input) !== 'heic') return null;
  const param = order.operation === 'convert' ? 'convert.to' : 'image.format';
  const message = `heic cannot be encoded: ${CAUSE}. Ask for another format, such as jpg or avif.`;
  return new MediaError('unsupported_target', message, { param });
}

/** Refuses a video in H.265. @throws MediaError unsupported_input. */
export function refuseH265({ videoCodec }: { readonly videoCodec?: string }): void {
  if (videoCodec !== 'h265') return;
  const message = `The video is encoded with H.265, which cannot be decoded: ${CAUSE}. Send it as H.264, VP9 or AV1.`;
  throw new MediaError('unsupported_input', message);
}

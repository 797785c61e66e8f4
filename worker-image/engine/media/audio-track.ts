import { MediaError } from '#crds/contract/media-error.ts';
import type { Probe } from '#worker-image/engine/media/probe.ts';
import type { MediaStream } from '#worker-image/engine/media/probe-schema.ts';

/**
 * Returns the first audio stream.
 * @throws MediaError processing_failed when there is none, or none that can be decoded.
 */
export function audioTrackOf({ audio: [track], hasBrokenAudio, undecodableAudio }: Probe): MediaStream {
  if (track !== undefined && track.sample_rate > 0) return track;
  const isBroken = hasBrokenAudio || track !== undefined;
  if (!isBroken && undecodableAudio > 0)
    throw new MediaError(
      'processing_failed',
      'The codec of the audio track is not supported. Save it with a common codec, such as AAC, and send that.',
    );
  throw new MediaError(
    'processing_failed',
    isBroken
      ? 'The audio track is damaged: its first packets do not declare channels and sample rate. Check that the file plays, and send it again.'
      : 'The file has no audio track. Send a file with audio.',
  );
}

/** The audio tracks of a video: copied where the container supports them, else AAC or Opus. Pure. */
import type { AudioCodec } from '#worker-image/engine/media/audio-codec.ts';
import { encoderOptions, isLossless, nearestRate } from '#worker-image/engine/media/audio-encoding.ts';
import type { Probe } from '#worker-image/engine/media/probe.ts';
import type { MediaStream } from '#worker-image/engine/media/probe-schema.ts';
import { droppedWarning } from '#worker-image/engine/media/video-extras.ts';
import { isQuickTime, type VideoOutput } from '#worker-image/engine/media/video-output.ts';

/** Maximum number of audio tracks that are kept, such as languages and commentaries. */
const MAX_TRACKS = 8;

/** Audio codecs, by ffmpeg's names, that are copied into each container. */
const COPYABLE: Readonly<Record<VideoOutput, ReadonlySet<string>>> = {
  mp4: new Set(['aac', 'mp3', 'ac3', 'eac3', 'alac', 'opus']),
  mov: new Set(['aac', 'mp3', 'ac3', 'eac3', 'alac', 'pcm_s16le', 'pcm_s16be', 'pcm_s24le', 'pcm_s24be']),
  webm: new Set(['opus', 'vorbis']),
  mkv: new Set([
    'aac',
    'mp3',
    'mp2',
    'ac3',
    'eac3',
    'alac',
    'flac',
    'opus',
    'vorbis',
    'dts',
    'truehd',
    'pcm_s16le',
    'pcm_s24le',
  ]),
};

/** Minimum sample rate of MP3 in MP4, in Hz: ffmpeg writes no lower one. */
const MIN_MP3_RATE = 16_000;

/** Returns the audio tracks that are kept. */
export function keptTracks({ audio }: Probe): readonly MediaStream[] {
  return audio.slice(0, MAX_TRACKS);
}

/** Returns ffmpeg's options for every audio track that is kept; `compress` also encodes lossless audio. */
export function audioTrackOptions(probe: Probe, format: VideoOutput, operation: 'compress' | 'convert'): string[] {
  return keptTracks(probe).flatMap((track, position) => {
    const copies =
      COPYABLE[format].has(track.codec_name) &&
      !(format === 'mp4' && track.codec_name === 'mp3' && track.sample_rate < MIN_MP3_RATE) &&
      !(operation === 'compress' && isLossless(track.codec_name)) &&
      !restoresTrimmed(probe, track, format);
    const options = copies ? ['-c:a', 'copy'] : encodedTrack(track, format === 'webm' ? 'opus' : 'aac', operation);
    return ['-map', `0:${track.index}`, ...options.map((option) => forTrack(option, position))];
  });
}

/** Returns whether a copy of the stream would play what the input trims. */
export function restoresTrimmed({ trimmed }: Probe, { index }: MediaStream, format: VideoOutput): boolean {
  return trimmed.has(index) && !isQuickTime(format);
}

/** Returns warnings for audio tracks that are dropped. */
export function audioTrackWarnings({ audio, undecodableAudio }: Probe): string[] {
  const more = audio.length - MAX_TRACKS;
  return [
    ...(more > 0 ? [`Of ${audio.length} audio tracks the first ${MAX_TRACKS} were kept.`] : []),
    ...droppedWarning(undecodableAudio, 'audio track of an unsupported codec', 'audio tracks of unsupported codecs'),
  ];
}

function encodedTrack(track: MediaStream, codec: AudioCodec, operation: 'compress' | 'convert'): string[] {
  const tier = operation === 'compress' ? 'high' : 'maximum';
  const channels = Math.min(track.channels, 8);
  return encoderOptions(
    { codec, tier, bitRate: null, sampleRate: nearestRate(codec, track.sample_rate || 48_000), channels },
    track,
  );
}

/** Returns an option for all audio tracks as one for the track at a position. */
function forTrack(option: string, position: number): string {
  const names: Record<string, string> = { '-af': '-filter:a', '-ar': '-ar:a', '-ac': '-ac:a' };
  const name = names[option] ?? option;
  return /^-(?:c|b|q|ar|ac|filter|mapping_family):a$/.test(name) ? `${name}:${position}` : option;
}

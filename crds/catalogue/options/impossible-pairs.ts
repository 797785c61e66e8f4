import { MediaError } from '#crds/contract/media-error.ts';

interface ChosenOptions {
  readonly video: { readonly format: string; readonly codec: string };
  readonly audio: { readonly format: string; readonly sample_rate_hz: number | null };
  /** False: the engine checks the rate against the default format, for files that it applies to. */
  readonly isAudioFormatChosen: boolean;
}

/** Checks pairs of options. @throws MediaError invalid_options for a codec or rate that the format cannot contain. */
export function refuseImpossiblePairs({ video, audio, isAudioFormatChosen }: ChosenOptions): void {
  if ((video.format === 'webm') !== (video.codec === 'vp9') && (video.format === 'webm' || video.format === 'mov')) {
    throw new MediaError(
      'invalid_options',
      `A ${video.format} file cannot contain the codec ${video.codec}. Use vp9 for webm, h264 or h265 for mov.`,
      { param: 'video.codec' },
    );
  }
  const rate = isAudioFormatChosen ? audio.sample_rate_hz : null;
  const allowed = rate === null ? null : sampleRateRule(audio.format, rate);
  if (allowed !== null) {
    throw new MediaError(
      'invalid_options',
      `${audio.format} does not support a sample rate of ${rate} Hz. Use ${allowed}.`,
      {
        param: 'audio.sample_rate_hz',
      },
    );
  }
}

const OPUS_RATES: readonly number[] = [8000, 12_000, 16_000, 24_000, 48_000];

/** Returns the rates of a format when it does not allow `rate`; null when it does: docs/reference/options.md#audio. */
export function sampleRateRule(format: string, rate: number): string | null {
  if (format === 'opus' && !OPUS_RATES.includes(rate)) return OPUS_RATES.join(', ');
  if (format === 'mp3' && rate > 48_000) return '48000 or less';
  if ((format === 'aac' || format === 'm4a') && rate > 96_000) return '96000 or less';
  return null;
}

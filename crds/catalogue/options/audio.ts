import { z } from 'zod';

export const AUDIO_TIERS = ['tiny', 'low', 'balanced', 'high', 'maximum'] as const;

/** Options under `audio`: docs/reference/options.md#audio. */
export const audioOptions = z.strictObject({
  format: z
    .enum(['aac', 'm4a', 'mp3', 'ogg', 'opus', 'wav', 'flac', 'alac', 'original'])
    .optional()
    .meta({ description: 'Default `aac`; `original` keeps the codec.' }),
  quality: z.enum(AUDIO_TIERS).optional().meta({ description: 'Default `high`; unused by lossless formats.' }),
  channels: z
    .enum(['stereo', 'mono', 'original'])
    .optional()
    .meta({ description: 'Default `stereo`; stereo and original keep the channels, mono mixes them down to one.' }),
  strip_metadata: z
    .boolean()
    .optional()
    .meta({ description: 'Default false; true removes tags such as title and artist.' }),
  bitrate_kbps: z.int().min(16).max(512).optional().meta({
    description:
      "Replaces the tier's bitrate. Ogg and MP3 have a minimum by sample rate and channels, 45 and 32 for stereo at 44100 Hz, which replaces a lower one with a warning.",
  }),
  sample_rate_hz: z.int().min(8000).max(192_000).optional().meta({
    description:
      'Default: the rate of the input. Opus accepts 8000, 12000, 16000, 24000, 48000; MP3 up to 48000; AAC up to 96000.',
  }),
});

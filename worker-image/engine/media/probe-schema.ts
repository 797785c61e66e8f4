import { z } from 'zod';

const number = z.coerce.number().catch(0);
const text = z.string().catch('');

const streamSchema = z.object({
  index: z.int(),
  codec_type: text,
  /** ffmpeg's name, such as h264, hevc, aac; empty for an unknown codec. */
  codec_name: text,
  codec_tag_string: text,
  width: number.optional().default(0),
  height: number.optional().default(0),
  pix_fmt: text,
  sample_aspect_ratio: text,
  color_transfer: text,
  color_space: text,
  /** `tt`, `bb`, `tb` or `bt` for interlaced video. */
  field_order: text,
  /** Lowest rate at which all times are multiples of a frame, such as 30/1; 1000/1 for browsers' recordings. */
  r_frame_rate: text,
  /** Maximum number of frames that are decoded before one that is shown earlier. */
  has_b_frames: number.optional().default(0),
  sample_fmt: text,
  sample_rate: number.optional().default(0),
  channels: number.optional().default(0),
  /** ffmpeg's name, such as stereo; empty where the decoder names none. */
  channel_layout: text,
  bits_per_raw_sample: number.optional().default(0),
  /** Bits per second; 0 when unknown. */
  bit_rate: number.optional().default(0),
  disposition: z.object({ attached_pic: number.optional().default(0) }).optional(),
  side_data_list: z
    .array(
      z.object({
        side_data_type: text,
        rotation: number.optional().default(0),
        displaymatrix: text,
        dv_profile: number.optional(),
      }),
    )
    .optional(),
  tags: z.record(z.string(), z.unknown()).optional().default({}),
});

/** What ffprobe prints of a media file, as JSON. Values that it omits or cannot name are 0 or empty. */
export const probeSchema = z.object({
  streams: z.array(streamSchema).default([]),
  chapters: z.array(z.unknown()).default([]),
  format: z
    .object({
      tags: z.record(z.string(), z.unknown()).optional().default({}),
      start_time: number.optional().default(0),
      duration: number.optional().default(0),
      bit_rate: number.optional().default(0),
    })
    .default({ tags: {}, start_time: 0, duration: 0, bit_rate: 0 }),
});

/** Entries that ffprobe prints for it. */
export const PROBE_ENTRIES = [
  'stream=index,codec_type,codec_name,codec_tag_string,width,height,pix_fmt,sample_aspect_ratio,color_transfer,color_space,field_order,r_frame_rate,has_b_frames,sample_fmt,sample_rate,channels,channel_layout,bits_per_raw_sample,bit_rate',
  'stream_disposition=attached_pic',
  'stream_side_data=side_data_type,rotation,displaymatrix,dv_profile',
  'stream_tags=alpha_mode,ALPHA_MODE',
  'chapter=id',
  'format=start_time,duration,bit_rate',
  `format_tags=${['make', 'model', 'creationdate', 'location.ISO6709'].map((name) => `com.apple.quicktime.${name}`).join(',')}`,
].join(':');

export type MediaStream = z.infer<typeof streamSchema>;

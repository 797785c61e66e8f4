/** Hostile video and audio. */
import { readFile } from 'node:fs/promises';
import { aviWithSubtitle, box, element, matroska, replaceBoxes, u32, wav } from '#test/hostile/forge-media.ts';
import { noise } from '#test/fixtures/noise.ts';
import { playlist } from '#test/hostile/playlists.ts';
import type { HostileFile } from '#test/hostile/hostile-file.ts';

const TO_MP4 = { operation: 'convert', options: { convert: { to: 'mp4' } } } as const;

export const HOSTILE_MEDIA: readonly HostileFile[] = [
  {
    name: 'an HLS playlist after the brand of an MP4',
    filename: 'a.mp4',
    bytes: (bait) => Buffer.concat([box('ftyp', 'isom\0\0\0\0isom'), Buffer.from(playlist(bait))]),
    ...TO_MP4,
    ends: ['processing_failed'],
  },
  {
    name: 'an HLS playlist after an ID3 tag',
    filename: 'a.mp3',
    bytes: (bait) => Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\0', 'latin1'), Buffer.from(playlist(bait))]),
    ends: ['unsupported_input'],
  },
  {
    name: 'an AVI whose subtitle is an HLS playlist',
    filename: 'a.avi',
    bytes: async (bait) => aviWithSubtitle(await noise().jpeg().toBuffer(), playlist(bait)),
    ...TO_MP4,
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'an MP4 whose data is in another file',
    filename: 'a.mp4',
    bytes: async ({ path }) =>
      replaceBoxes(await sample('clip.mp4'), 'dref', () =>
        box('dref', u32(0, 1), box('url ', u32(0), `file://${path}\0`)),
      ),
    ...TO_MP4,
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'a MOV whose data is in another file by an alias',
    filename: 'a.mov',
    bytes: async ({ path }) => {
      const alias = Buffer.alloc(150);
      alias.writeUInt16BE(2, 6);
      const name = Buffer.from(path, 'latin1');
      const record = Buffer.concat([
        u32(0),
        alias,
        Buffer.from([0, 2, 0, name.length]),
        name,
        Buffer.from([0xff, 0xff, 0, 0]),
      ]);
      const movie = replaceBoxes(await sample('clip.mp4'), 'dref', () => box('dref', u32(0, 1), box('alis', record)));
      return replaceBoxes(movie, 'ftyp', () => box('ftyp', 'qt  \0\0\0\0qt  '));
    },
    ...TO_MP4,
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'an MKV of 1,000 tracks',
    filename: 'a.mkv',
    bytes: () => matroska(1000),
    ...TO_MP4,
    ends: ['processing_failed'],
  },
  {
    name: 'an MKV with a program attached under a name that climbs',
    filename: 'a.mkv',
    bytes: async () => {
      const picture = await noise().jpeg().toBuffer();
      const attachment = element(
        '61a7',
        element('466e', '../../../../tmp/x.ttf'),
        element('4660', 'font/ttf'),
        element('465c', Buffer.alloc(1000, 'MZ')),
        element('46ae', 1),
      );
      const block = element('a3', Buffer.concat([Buffer.from([0x81, 0, 0, 0x80]), picture]));
      return matroska(1, element('1941a469', attachment), element('1f43b675', element('e7', 0), block));
    },
    ...TO_MP4,
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'an MKV whose elements claim to be larger than any file',
    filename: 'a.mkv',
    bytes: () => Buffer.concat([matroska(1).subarray(0, 60), Buffer.from('1654ae6b01ffffffffffffff', 'hex')]),
    ...TO_MP4,
    ends: ['processing_failed'],
  },
  ...['stts', 'stsz', 'stco', 'stsc', 'ctts', 'elst'].map((type): HostileFile => ({
    name: `an MP4 whose ${type} table claims two thousand million entries`,
    filename: 'a.mp4',
    bytes: async () =>
      replaceBoxes(await sample('clip.mp4'), type, () =>
        box(type, u32(0, ...(type === 'stsz' ? [1] : []), 0x7fff_ffff, 0x7fff_ffff, 1)),
      ),
    ...TO_MP4,
    ends: ['done', 'processing_failed', 'limit_exceeded'],
  })),
  {
    name: 'an MP4 whose frames claim 65,535 × 65,535 pixels',
    filename: 'a.mp4',
    bytes: async () =>
      replaceBoxes(await sample('clip.mp4'), 'stsd', (body) => {
        const bytes = Buffer.from(body);
        if (/avc1|hvc1|hev1/.test(bytes.toString('latin1', 12, 16))) bytes.writeUInt32BE(0xffff_ffff, 8 + 32);
        return box('stsd', bytes);
      }),
    ...TO_MP4,
    ends: ['done', 'processing_failed', 'limit_exceeded'],
  },
  {
    name: 'an MP4 whose header claims a thousand years',
    filename: 'a.mp4',
    bytes: async () =>
      replaceBoxes(await sample('clip.mp4'), 'mvhd', (body) => {
        const bytes = Buffer.from(body);
        bytes.writeUInt32BE(1, 12);
        bytes.writeUInt32BE(0xffff_fffe, 16);
        return box('mvhd', bytes);
      }),
    ...TO_MP4,
    ends: ['done'],
  },
  {
    name: 'an MP4 without its directory',
    filename: 'a.mp4',
    bytes: async () => replaceBoxes(await sample('clip.mp4'), 'moov', () => Buffer.alloc(0)),
    ...TO_MP4,
    ends: ['processing_failed'],
  },
  {
    name: 'an MP4 without its frames',
    filename: 'a.mp4',
    bytes: async () => replaceBoxes(await sample('clip.mp4'), 'mdat', () => box('mdat')),
    ...TO_MP4,
    ends: ['processing_failed'],
  },
  {
    name: 'an MP4 of boxes nested 100,000 deep',
    filename: 'a.mp4',
    bytes: () => {
      const depth = 100_000;
      const heads = Array.from({ length: depth }, (_, index) =>
        Buffer.concat([u32((depth - index) * 8), Buffer.from('moov')]),
      );
      return Buffer.concat([box('ftyp', 'isom\0\0\0\0isom'), ...heads]);
    },
    ...TO_MP4,
    ends: ['processing_failed'],
  },
  {
    name: 'an MP4 of 200,000 empty boxes',
    filename: 'a.mp4',
    bytes: () =>
      Buffer.concat([box('ftyp', 'isom\0\0\0\0isom'), ...Array.from({ length: 200_000 }, () => box('free'))]),
    ...TO_MP4,
    ends: ['processing_failed'],
  },
  {
    name: 'a video with a URL instead of its codec',
    filename: 'a.mp4',
    bytes: async ({ url }) =>
      Buffer.from(
        (await sample('clip.mp4')).toString('latin1').replaceAll('avc1', 'XBIN').concat(url('tail')),
        'latin1',
      ),
    ...TO_MP4,
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'a WAV that plays a sample a second for two months',
    filename: 'a.wav',
    bytes: () => wav({ rate: 1, channels: 1, bits: 8 }, 5_000_000),
    ends: ['limit_exceeded', 'processing_failed'],
  },
  {
    name: 'a WAV of 65,535 channels',
    filename: 'a.wav',
    bytes: () => wav({ rate: 48_000, channels: 65_535, bits: 16 }, 500_000),
    ends: ['processing_failed'],
  },
  {
    name: 'a WAV of four thousand million samples a second',
    filename: 'a.wav',
    bytes: () => wav({ rate: 0xffff_ffff, channels: 2, bits: 16 }, 500_000),
    ends: ['processing_failed', 'invalid_options'],
  },
  {
    name: 'a WAV of samples without bits',
    filename: 'a.wav',
    bytes: () => wav({ rate: 48_000, channels: 2, bits: 0 }, 500_000),
    ends: ['processing_failed', 'done'],
  },
  {
    name: 'a WAV that claims 4 GB',
    filename: 'a.wav',
    bytes: () => wav({ rate: 48_000, channels: 2, bits: 16, dataBytes: 0xffff_fff0 }, 500_000),
    ends: ['done', 'processing_failed'],
  },
  {
    name: 'audio of 11 minutes with a limit of 10',
    filename: 'a.wav',
    bytes: () => wav({ rate: 8000, channels: 1, bits: 8 }, 8000 * 660),
    ends: ['limit_exceeded'],
    says: /660 seconds.*600/,
  },
  {
    name: 'an MP3 whose tag claims 256 MB',
    filename: 'a.mp3',
    bytes: async () => Buffer.concat([Buffer.from('ID3\x04\0\0\x7f\x7f\x7f\x7f', 'latin1'), await sample('talk.mp3')]),
    ends: ['unsupported_input', 'processing_failed', 'done'],
  },
  {
    name: 'an audio file without audio',
    filename: 'a.m4a',
    bytes: () => sample('no-audio.m4a'),
    ends: ['processing_failed'],
  },
  {
    name: 'an Ogg page that claims a page of its own size without end',
    filename: 'a.ogg',
    bytes: () => {
      const page = Buffer.alloc(27 + 255 + 255 * 255);
      page.write('OggS\0\x02', 'latin1');
      page.fill(255, 26, 27 + 255);
      page.write('\x01vorbis', 27 + 255, 'latin1');
      return Buffer.concat(Array.from({ length: 50 }, () => page));
    },
    ends: ['processing_failed'],
  },
  {
    name: 'a FLAC whose header is all ones',
    filename: 'a.flac',
    bytes: () => Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(100_000, 0xff)]),
    ends: ['unsupported_input', 'processing_failed'],
  },
  {
    name: 'an FLV whose tags claim 16 MB each',
    filename: 'a.flv',
    bytes: () =>
      Buffer.concat([Buffer.from('FLV\x01\x05\0\0\0\x09\0\0\0\0\x12\xff\xff\xff', 'latin1'), Buffer.alloc(5000, 0xff)]),
    ...TO_MP4,
    ends: ['processing_failed'],
  },
];

function sample(name: string): Promise<Buffer> {
  return readFile(new URL(`../../api/data/samples/${name}`, import.meta.url));
}

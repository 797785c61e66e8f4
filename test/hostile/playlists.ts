/** Playlists, which refer to other files and addresses, named as video and audio. */
import type { Bait } from '#test/hostile/attacked-engine.ts';
import type { HostileFile } from '#test/hostile/hostile-file.ts';

/** Playlists by format. */
const PLAYLISTS: readonly (readonly [what: string, text: (bait: Bait) => string])[] = [
  ['an HLS playlist', playlist],
  ['an HLS playlist behind blank lines', (bait) => `\n\n \n${playlist(bait)}`],
  ['an ffconcat list', ({ path, url }) => `ffconcat version 1.0\nfile '${path}'\nfile '${url('concat')}'\n`],
  [
    'an SDP description',
    () => 'v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\n',
  ],
  [
    'a DASH manifest',
    ({ url }) =>
      `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period><BaseURL>${url('dash')}</BaseURL></Period></MPD>`,
  ],
  [
    'an IMF playlist',
    ({ url }) =>
      `<?xml version="1.0"?><CompositionPlaylist xmlns="http://www.smpte-ra.org/schemas/2067-3/2016"><Id>${url('imf')}</Id></CompositionPlaylist>`,
  ],
  ['a WebVTT file', ({ fileUrl }) => `WEBVTT\n\n00:00.000 --> 00:09.000\n<img src="${fileUrl}">\n`],
  ['a Vapoursynth or AviSynth script', ({ path }) => `AviSource("${path}")\n`],
];

export const DISGUISED_PLAYLISTS: readonly HostileFile[] = PLAYLISTS.flatMap(([what, text]) =>
  ['a.mp4', 'a.avi', 'a.mkv', 'a.mp3', 'a.wav'].map((filename): HostileFile => ({
    name: `${what} named ${filename}`,
    filename,
    bytes: (bait) => Buffer.from(text(bait)),
    ends: ['unsupported_input'],
  })),
);

export function playlist({ url, path, fileUrl }: Bait): string {
  return [
    '#EXTM3U',
    '#EXT-X-MEDIA-SEQUENCE:0',
    `#EXT-X-KEY:METHOD=AES-128,URI="${url('key')}"`,
    '#EXTINF:10.0,',
    `concat:${url('hls')}|${path}`,
    '#EXTINF:10.0,',
    fileUrl,
    '#EXTINF:10.0,',
    `subfile,,start,0,end,9,,:${path}`,
    '#EXT-X-ENDLIST',
    '',
  ].join('\n');
}

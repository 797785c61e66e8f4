import type { Format } from '#crds/catalogue/formats.ts';
import { hasBytes } from '#worker-image/engine/containers/has-bytes.ts';
import { parseOggPage } from '#worker-image/engine/containers/ogg.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';

/** Starts of the first packet of a video stream. */
const VIDEO_PACKETS = ['\x80theora', 'OVP80', 'BBCD\x00', '\x01video\x00'];
const AUDIO_PACKETS: readonly (readonly [start: string, format: Format])[] = [
  ['OpusHead', 'opus'],
  ['\x01vorbis', 'ogg'],
  ['\x7fFLAC', 'ogg'],
  ['Speex   ', 'ogg'],
];

/** Returns the Ogg format by the first packet of each stream; null when the file is not Ogg. */
export function formatOfOgg(head: Buffer): Format | null {
  if (!hasBytes(head, 'OggS')) return null;
  const packets = firstPackets(head);
  if (packets.some((packet) => VIDEO_PACKETS.some((start) => hasBytes(packet, start)))) {
    throw unsupported('an Ogg video');
  }
  const audio = AUDIO_PACKETS.find(([start]) => packets.some((packet) => hasBytes(packet, start)));
  if (audio === undefined) throw unsupported('an Ogg file without audio');
  return audio[1];
}

/** Returns the contents of the pages that begin a stream, which precede all others. */
function firstPackets(head: Buffer): Buffer[] {
  const packets: Buffer[] = [];
  let page = parseOggPage(head, 0);
  while (page?.beginsStream === true) {
    packets.push(head.subarray(page.body, page.end));
    page = parseOggPage(head, page.end);
  }
  return packets;
}

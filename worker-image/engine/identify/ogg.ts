import type { Format } from '#crds/formats.ts';
import { has } from '#worker-image/engine/identify/signatures.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';

const VIDEO_PACKETS = ['\x80theora', 'OVP80', 'BBCD\x00', '\x01video\x00'];
const AUDIO_PACKETS: readonly (readonly [packet: string, format: Format])[] = [
  ['OpusHead', 'opus'],
  ['\x01vorbis', 'ogg'],
  ['\x7fFLAC', 'ogg'],
  ['Speex   ', 'ogg'],
];

/** Ogg by the first packet of each of its streams (RFC 3533); null when it is no Ogg. */
export function formatOfOgg(head: Buffer): Format | null {
  if (!has(head, 'OggS')) return null;
  const packets = firstPackets(head);
  if (packets.some((packet) => VIDEO_PACKETS.some((start) => has(packet, start)))) throw unsupported('an Ogg video');
  const audio = AUDIO_PACKETS.find(([start]) => packets.some((packet) => has(packet, start)));
  if (audio === undefined) throw unsupported('an Ogg file without sound');
  return audio[1];
}

/** Pages that begin a stream all stand at the start of the file. */
function firstPackets(head: Buffer): Buffer[] {
  const packets: Buffer[] = [];
  let at = 0;
  while (has(head, 'OggS', at) && at + 27 <= head.length) {
    const beginsStream = ((head[at + 5] ?? 0) & 2) !== 0;
    if (!beginsStream) break;
    const segments = head[at + 26] ?? 0;
    const start = at + 27 + segments;
    const length = head.subarray(at + 27, start).reduce((sum, segment) => sum + segment, 0);
    packets.push(head.subarray(start, start + length));
    at = start + length;
  }
  return packets;
}

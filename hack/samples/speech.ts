/** Audio that compresses like speech: voiced syllables with moving formants, noise, pauses. */
import { makeRandom } from './random.ts';
import { wavFile } from './wav.ts';

const RATE = 44_100;
/** First two formants of some vowels, in Hz. */
const VOWELS = [
  [730, 1090],
  [270, 2290],
  [530, 1840],
  [570, 840],
  [300, 870],
] as const;

/** Returns a WAV file of 16 bits, stereo. */
export function speech(seconds: number, seed: number): Buffer {
  const samples = new Float64Array(seconds * RATE);
  const random = makeRandom(seed);
  let at = Math.floor(0.3 * RATE);
  while (at < samples.length - RATE) {
    const syllables = 4 + Math.floor(random() * 8);
    for (let count = 0; count < syllables && at < samples.length - RATE; count += 1) {
      at = consonant(samples, at, random);
      at = vowel(samples, { at, pitch: 128 - (40 * count) / syllables + 10 * random(), random });
    }
    at += Math.floor((0.25 + 0.4 * random()) * RATE);
  }
  return wav(samples, random);
}

function consonant(samples: Float64Array, at: number, random: () => number): number {
  const length = Math.floor((0.03 + 0.07 * random()) * RATE);
  let before = 0;
  for (let i = 0; i < length; i += 1) {
    const white = random() * 2 - 1;
    samples[at + i] = (samples[at + i] ?? 0) + 0.12 * Math.sin((Math.PI * i) / length) * (white - before);
    before = white;
  }
  return at + length;
}

interface Voice {
  readonly at: number;
  /** In Hz. */
  readonly pitch: number;
  readonly random: () => number;
}

function vowel(samples: Float64Array, { at, pitch, random }: Voice): number {
  const length = Math.floor((0.09 + 0.13 * random()) * RATE);
  const [first, second] = VOWELS[Math.floor(random() * VOWELS.length)] ?? VOWELS[0];
  const formants = [resonator(first, 80), resonator(second, 110), resonator(2600, 160)];
  let phase = 0;
  for (let i = 0; i < length; i += 1) {
    phase += (pitch + 3 * Math.sin(i / 1400)) / RATE;
    const pulse = phase >= 1 ? 1 : 0;
    phase -= pulse;
    const source = pulse + 0.01 * (random() - 0.5);
    const voiced = formants.reduce((sum, formant, index) => sum + formant(source) / (1 + index), 0);
    samples[at + i] = (samples[at + i] ?? 0) + 0.5 * voiced * Math.sin((Math.PI * i) / length) ** 0.5;
  }
  return at + length;
}

function resonator(frequency: number, bandwidth: number): (input: number) => number {
  const radius = Math.exp((-Math.PI * bandwidth) / RATE);
  const feedback = 2 * radius * Math.cos((2 * Math.PI * frequency) / RATE);
  const gain = 1 - radius;
  let [one, two] = [0, 0];
  return (input) => {
    const output = gain * input * 12 + feedback * one - radius * radius * two;
    two = one;
    one = output;
    return output;
  };
}

/** Returns a WAV file whose right channel is delayed and which has reverberation. */
function wav(samples: Float64Array, random: () => number): Buffer {
  const loudest = samples.reduce((most, value) => Math.max(most, Math.abs(value)), 0.001);
  const data = Buffer.alloc(samples.length * 4);
  const valueAt = (i: number): number =>
    (0.7 * (samples[i] ?? 0)) / loudest + 0.12 * ((samples[i - 3700] ?? 0) / loudest);
  for (let i = 0; i < samples.length; i += 1) {
    data.writeInt16LE(Math.round(32_000 * valueAt(i) + 40 * (random() - 0.5)), i * 4);
    data.writeInt16LE(Math.round(30_000 * valueAt(i - 14) + 40 * (random() - 0.5)), i * 4 + 2);
  }
  return wavFile(data, { rate: RATE, bits: 16 });
}

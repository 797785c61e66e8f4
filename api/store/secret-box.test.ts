import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeSecretBox, SecretBoxError } from '#api/store/secret-box.ts';

const ringKey = (id: string, byte: number) => ({ id, key: Buffer.alloc(32, byte) });
const [older, newer] = [ringKey('2025', 1), ringKey('2026', 2)];
const box = makeSecretBox([newer, older]);

describe('makeSecretBox', () => {
  it('decrypts any text that it encrypted, with the same context', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (plain, context) => {
        expect(box.open(box.seal(plain, context), context)).toBe(plain);
      }),
    );
  });

  it('encrypts a text to different bytes each time, without the text', () => {
    const [one, two] = [box.seal('whsec_secret', 'a'), box.seal('whsec_secret', 'a')];
    expect(one).not.toStrictEqual(two);
    expect(one.includes('whsec_secret')).toBe(false);
  });

  // Promise, Authentication: Keys are stored as a digest under a pepper that can be replaced; secrets are encrypted under keys with ids
  it('encrypts with the first key and decrypts with every key of the ring', () => {
    expect(box.open(makeSecretBox([older]).seal('old', 'a'), 'a')).toBe('old');
    expect(makeSecretBox([newer]).open(box.seal('new', 'a'), 'a')).toBe('new');
  });

  it('rejects another context', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (sealedFor, openedFor) => {
        fc.pre(sealedFor !== openedFor);
        const sealed = box.seal('secret', sealedFor);
        expect(() => box.open(sealed, openedFor)).toThrow(SecretBoxError);
      }),
    );
  });

  it('rejects a key that is not in the ring, and another key with the same id', () => {
    expect(() => makeSecretBox([older]).open(box.seal('secret', 'a'), 'a')).toThrow('not among the configured keys');
    expect(() => makeSecretBox([ringKey('2026', 3)]).open(box.seal('secret', 'a'), 'a')).toThrow(SecretBoxError);
  });

  it('rejects a value with any flipped bit', () => {
    const sealed = box.seal('secret', 'a');
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const flipped = Buffer.from(sealed);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => box.open(flipped, 'a'), `bit ${bit}`).toThrow(SecretBoxError);
    }
  });

  it('rejects a value truncated at the start or the end', () => {
    const sealed = box.seal('secret', 'a');
    for (let at = 0; at < sealed.length; at += 1) {
      expect(() => box.open(sealed.subarray(0, at), 'a'), `first ${at} bytes`).toThrow(SecretBoxError);
      if (at > 0) expect(() => box.open(sealed.subarray(at), 'a'), `from byte ${at}`).toThrow(SecretBoxError);
    }
  });

  it('rejects an empty ring of keys', () => {
    expect(() => makeSecretBox([])).toThrow('No encryption key');
  });
});

/** Time-based one-time codes as authenticator apps show them: SHA-1, six digits, 30 seconds. RFC 6238. */
import { createHmac, timingSafeEqual } from 'node:crypto';

const STEP_SECONDS = 30;
const DIGITS = 6;
/** 160 bits, as RFC 4226 recommends. */
const SECRET_CHARACTERS = 32;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** A fresh secret in base32. */
export function newTotpSecret(newWord: (alphabet: string, length: number) => string): string {
  return newWord(BASE32, SECRET_CHARACTERS);
}

/** The address that authenticator apps read from a QR code. */
export function totpAddress(secret: string, email: string): string {
  return `otpauth://totp/mediajobs:${encodeURIComponent(email)}?secret=${secret}&issuer=mediajobs`;
}

/** The step that the code belongs to, now or one step beside it (clocks differ); null when it is wrong. */
export function stepOfCode(secret: string, code: string, now: Date): number | null {
  const digits = code.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(digits)) return null;
  const current = Math.floor(now.getTime() / 1000 / STEP_SECONDS);
  const steps = [current, current - 1, current + 1];
  return steps.find((step) => timingSafeEqual(Buffer.from(codeOf(secret, step)), Buffer.from(digits))) ?? null;
}

/** The code of a step, counted from 1970 on. */
export function codeOf(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', bytesOf(secret)).update(counter).digest();
  const at = (mac.at(-1) ?? 0) & 15;
  const number = mac.readUInt32BE(at) & 0x7fffffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

function bytesOf(secret: string): Buffer {
  const bits = Array.from(secret, (character) => BASE32.indexOf(character).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

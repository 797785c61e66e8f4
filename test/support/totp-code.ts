import { Secret, TOTP } from 'otpauth';

/** Returns the code that an authenticator app shows in a time step, counted in 30 seconds from 1970. */
export function codeOf(secret: string, step: number): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: step * 30_000 });
}

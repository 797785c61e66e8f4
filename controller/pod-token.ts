/**
 * Verification of the token by which a standby proves which pod it is: a token of its service account for an audience
 * that is not the API server's, signed by the API server. Its public keys are read from there.
 */
import { createLocalJWKSet, errors, jwtVerify, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import type { KubeClient } from '#crds/kube/kube-client.ts';
import { STANDBY_AUDIENCE } from '#crds/contract/run-files.ts';

/** Returns the uid of the pod that a token was issued for; null for a token that is not valid here. */
export type VerifyPodToken = (token: string) => Promise<string | null>;

/** Path of the public keys, which every service account may read. */
export const KEYS_PATH = '/openid/v1/jwks';
/** Minimum interval between two reads of the keys, which may be rotated, in milliseconds. */
const MIN_READ_MS = 60_000;

const claimsSchema = z.object({
  'kubernetes.io': z.object({ namespace: z.string(), pod: z.object({ uid: z.string() }) }),
});

/** Returns a function that verifies tokens. It throws when the keys cannot be read. */
export function makeVerifyPodToken(
  { client, now, monotonic }: { client: Pick<KubeClient, 'get'>; now: () => Date; monotonic: () => number },
  { namespace }: { namespace: string },
): VerifyPodToken {
  let keys: { readonly find: JWTVerifyGetKey; readonly readAt: number } | null = null;
  const readKeys = async (): Promise<JWTVerifyGetKey> => {
    const set = (await client.get(KEYS_PATH)) as unknown as JSONWebKeySet;
    keys = { find: createLocalJWKSet(set), readAt: monotonic() };
    return keys.find;
  };
  const verify = async (token: string, find: JWTVerifyGetKey): Promise<string | null> => {
    const { payload } = await jwtVerify(token, find, {
      audience: STANDBY_AUDIENCE,
      requiredClaims: ['exp'],
      currentDate: now(),
    });
    const claims = claimsSchema.safeParse(payload).data?.['kubernetes.io'];
    return claims?.namespace === namespace ? claims.pod.uid : null;
  };
  return async (token) => {
    try {
      return await verify(token, keys?.find ?? (await readKeys())).catch(async (error: unknown) => {
        const isKeyUnknown = error instanceof errors.JWKSNoMatchingKey;
        if (!isKeyUnknown || keys === null || monotonic() - keys.readAt < MIN_READ_MS) throw error;
        return verify(token, await readKeys());
      });
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  };
}

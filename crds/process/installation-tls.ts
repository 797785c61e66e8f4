/**
 * TLS between two processes of one installation, without certificates: both prove that they have a key of the
 * installation (TLS-PSK, RFC 5489). A program without the key can neither call the server nor impersonate it: the
 * handshake fails before a byte of HTTP.
 *
 * TLS 1.2, because Node.js supports pre-shared keys for it only. No session tickets: each connection proves the key. No
 * renegotiation. The client's identity is the key's id, so that keys can be replaced one by one.
 */
import { constants } from 'node:crypto';
import type { ConnectionOptions, TlsOptions } from 'node:tls';
import type { RingKey } from '#crds/process/ring-key.ts';

const PROTOCOL = {
  /** OpenSSL's only suite with a pre-shared key, forward secrecy by elliptic curves, and authenticated encryption. */
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
  secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
} as const;
const HANDSHAKE_MS = 5000;

/** Returns the options of a server that accepts clients with one of the keys. */
export function installationServer(keys: readonly RingKey[]): TlsOptions {
  const byId = new Map(keys.map(({ id, key }) => [id, key]));
  return { ...PROTOCOL, handshakeTimeout: HANDSHAKE_MS, pskCallback: (_socket, id) => byId.get(id) ?? null };
}

/** Returns the options of a client that proves the first key and accepts servers that have it. */
export function installationClient([first]: readonly RingKey[]): ConnectionOptions {
  if (first === undefined) throw new Error('a key ring needs at least one key');
  return {
    ...PROTOCOL,
    pskCallback: () => ({ identity: first.id, psk: first.key }),
    // The server has no certificate: the key is its identity.
    checkServerIdentity: () => undefined,
  };
}

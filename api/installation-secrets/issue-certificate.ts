/**
 * Certificate of a server and the authority that issues it, by RFC 5280. The authority's key is discarded, so it issues
 * no other certificate. EC keys on P-256, ECDSA with SHA-256.
 */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import {
  bits,
  integer,
  isTrue,
  octets,
  oid,
  sequence,
  set,
  tagged,
  text,
  time,
} from '#api/installation-secrets/der.ts';

export interface IssuedCertificate {
  /** PEM of the authority, the certificate and the certificate's private key. */
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

interface CertificateRequest {
  /** Host names and IPv4 addresses, the first as the common name. */
  readonly names: readonly string[];
  readonly now: Date;
}

const DAY_MS = 86_400_000;
const VALID_DAYS = 3650;
/** Time before `now` from which the certificate is valid: clocks of callers differ. */
const EARLIER_MS = 3_600_000;
const ECDSA_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
const OIDS = {
  commonName: '2.5.4.3',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;

/** Returns a new certificate for the names, and the authority that callers must trust. */
export function issueCertificate({ names, now }: CertificateRequest): IssuedCertificate {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = { name: 'mediajobs authority', key: authority.privateKey, keyId: keyIdOf(authority.publicKey) };
  const [first = 'localhost'] = names;
  return {
    authority: certificate(issuer, {
      now,
      name: issuer.name,
      publicKey: authority.publicKey,
      extensions: [
        extension(OIDS.basicConstraints, sequence(isTrue(), integer(Buffer.from([0]))), 'critical'),
        // keyCertSign and cRLSign.
        extension(OIDS.keyUsage, bits(Buffer.from([0b0000_0110]), 1), 'critical'),
      ],
    }),
    certificate: certificate(issuer, {
      now,
      name: first,
      publicKey: server.publicKey,
      extensions: [
        extension(OIDS.basicConstraints, sequence(), 'critical'),
        // digitalSignature.
        extension(OIDS.keyUsage, bits(Buffer.from([0b1000_0000]), 7), 'critical'),
        extension(OIDS.extendedKeyUsage, sequence(oid(OIDS.serverAuth))),
        extension(OIDS.alternativeNames, sequence(...names.map((name) => alternativeName(name)))),
      ],
    }),
    key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

interface Issuer {
  readonly name: string;
  readonly key: KeyObject;
  readonly keyId: Buffer;
}
interface Subject {
  readonly name: string;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly now: Date;
}

/** Returns the PEM of a signed certificate. */
function certificate(issuer: Issuer, { name, publicKey, extensions, now }: Subject): string {
  const ids = [
    extension(OIDS.subjectKeyId, octets(keyIdOf(publicKey))),
    extension(OIDS.authorityKeyId, sequence(tagged(0, issuer.keyId, 'primitive'))),
  ];
  const serial = randomBytes(16);
  // A positive number without leading zeros.
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const toBeSigned = sequence(
    tagged(0, integer(Buffer.from([2])), 'constructed'),
    integer(serial),
    ECDSA_SHA256,
    commonName(issuer.name),
    sequence(time(new Date(now.getTime() - EARLIER_MS)), time(new Date(now.getTime() + VALID_DAYS * DAY_MS))),
    commonName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, sequence(...extensions, ...ids), 'constructed'),
  );
  const whole = sequence(toBeSigned, ECDSA_SHA256, bits(sign('sha256', toBeSigned, issuer.key)));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function extension(id: string, value: Buffer, critical?: 'critical'): Buffer {
  return sequence(oid(id), ...(critical === undefined ? [] : [isTrue()]), octets(value));
}

/** Encodes a common name; RFC 5280 allows 64 characters, and callers compare only the alternative names. */
function commonName(name: string): Buffer {
  return sequence(set(sequence(oid(OIDS.commonName), text(name.slice(0, 64)))));
}

function alternativeName(name: string): Buffer {
  if (isIP(name) === 4) return tagged(7, Buffer.from(name.split('.').map(Number)), 'primitive');
  return tagged(2, Buffer.from(name), 'primitive');
}

function keyIdOf(publicKey: KeyObject): Buffer {
  return createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
}

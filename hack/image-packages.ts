/**
 * Reduces the `package.json` of the current folder to the npm packages that an image needs, in the build of that image:
 * `node hack/image-packages.ts service`. `npm install` then installs those alone, in the versions of the lock file.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const SERVICE = [
  '@aws-sdk/client-s3',
  '@aws-sdk/lib-storage',
  '@aws-sdk/s3-request-presigner',
  '@fastify/busboy',
  '@kubernetes/client-node',
  '@opentelemetry/api',
  '@opentelemetry/core',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace',
  'canonicalize',
  'commander',
  'content-disposition',
  'fastify',
  'ioredis',
  'ipaddr.js',
  'jose',
  'marked',
  'openid-client',
  'otpauth',
  'pg',
  'pino',
  'prom-client',
  'undici',
  'uqr',
  'zod',
] as const;

const WORKER = [
  'fflate',
  'fluent-ffmpeg',
  'htmlparser2',
  'ipaddr.js',
  'marked',
  'pino',
  'prom-client',
  'sharp',
  'yauzl',
  'zod',
] as const;

/** Packages that the processes of each image import. `.dependency-cruiser.js` refuses all others there. */
export const IMAGE_PACKAGES = {
  service: SERVICE,
  worker: WORKER,
  /** The whole service on one machine. */
  embedded: [...new Set([...SERVICE, ...WORKER])],
  /** Makes the bundle of the worker image; not part of it. */
  bundler: ['rolldown'],
  /** Builds the documentation site; not part of an image either. */
  documentation: ['vitepress', 'vue', '@shikijs/transformers'],
} as const satisfies Record<string, readonly string[]>;

function isImage(name: string | undefined): name is keyof typeof IMAGE_PACKAGES {
  return name !== undefined && Object.hasOwn(IMAGE_PACKAGES, name);
}

if (import.meta.main) {
  const [image] = parseArgs({ allowPositionals: true }).positionals;
  if (!isImage(image)) throw new Error(`name one of ${Object.keys(IMAGE_PACKAGES).join(', ')}, not ${image}`);
  const { devDependencies, dependencies, ...rest } = JSON.parse(readFileSync('package.json', 'utf8'));
  const versions = { ...devDependencies, ...dependencies };
  const kept = IMAGE_PACKAGES[image].map((name) => {
    if (versions[name] === undefined) throw new Error(`package.json has no dependency ${name}`);
    return [name, versions[name]];
  });
  writeFileSync('package.json', JSON.stringify({ ...rest, dependencies: Object.fromEntries(kept) }, null, 2));
}

/**
 * Prints Debian packages, one per line: those that the service and its tests need on one machine, or, with
 * `--image`, those of the worker image, or, with `--browser`, those that the tests of the dashboard need besides.
 */
import { parseArgs } from 'node:util';
import { DEBIAN_PACKAGES } from '#worker-image/tools/debian-packages.ts';

/** Servers and commands that the embedded service starts; bubblewrap is optional and isolates files. */
const SERVICE = [
  'postgresql-15',
  'redis-server',
  'openssl',
  'util-linux',
  'bubblewrap',
  'procps',
  'python3-venv',
  'ca-certificates',
];
/** Tools with which tests inspect results. */
const TESTS = ['libimage-exiftool-perl'];
/** Browser for the tests of the dashboard. */
const BROWSER = ['chromium'];
/** Packages of the worker image only: since Debian 13 the codecs of libheif are separate packages. */
const IMAGE = [
  'ca-certificates',
  'libheif-plugin-libde265',
  'libheif-plugin-x265',
  'libheif-plugin-dav1d',
  'libheif-plugin-aomdec',
  'libheif-plugin-aomenc',
];
/** Fonts for all scripts, and metric equivalents of the usual office fonts, so that documents keep their line breaks. */
const FONTS = [
  'fonts-dejavu-core',
  'fonts-liberation',
  'fonts-crosextra-carlito',
  'fonts-crosextra-caladea',
  'fonts-urw-base35',
  'fonts-noto-core',
  'fonts-noto-cjk',
];

const { values } = parseArgs({
  options: { image: { type: 'boolean', default: false }, browser: { type: 'boolean', default: false } },
});
const tools = Object.values(DEBIAN_PACKAGES).flatMap((packages) => packages.split(' '));
const servers = values.image ? IMAGE : [...SERVICE, ...TESTS];
const wanted = values.browser ? BROWSER : [...servers, ...FONTS, ...tools];
for (const name of new Set(wanted)) process.stdout.write(`${name}\n`);

/**
 * Prints Debian packages, one per line: those that the service and its tests need on one machine, or, with
 * `--image`, those of the worker image, or, with `--browser`, those that the tests of the dashboard need besides.
 */
import { parseArgs } from 'node:util';
import { DEBIAN_PACKAGES } from '#worker-image/tools/debian-packages.ts';

/** Servers and commands that the embedded service starts itself; bubblewrap, which it can do without, is its file wall. */
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
/** What tests look into results with. */
const TESTS = ['libimage-exiftool-perl'];
/** What the dashboard is tested with. */
const BROWSER = ['chromium'];
/** From Debian 13 on libheif has its codecs in packages of their own. */
const IMAGE = [
  'ca-certificates',
  'libheif-plugin-libde265',
  'libheif-plugin-x265',
  'libheif-plugin-dav1d',
  'libheif-plugin-aomdec',
  'libheif-plugin-aomenc',
];
/** So that documents keep their line breaks: metric twins of the usual office and PostScript fonts; and all scripts. */
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
const place = values.image ? IMAGE : [...SERVICE, ...TESTS];
const wanted = values.browser ? BROWSER : [...place, ...FONTS, ...tools];
for (const name of new Set(wanted)) process.stdout.write(`${name}\n`);

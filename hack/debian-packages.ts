/**
 * Debian packages by their use. `--use image` prints those of the worker image, `--use imageWithoutHevc` those of one without HEVC, `--use imageServers` those that the image
 * of one machine adds, one per line. `hack/generate.ts` writes the others to `hack/debian-packages.txt`, which
 * `hack/setup` reads before there is a Node.js.
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
/** Commands that the examples of README and docs call. */
const EXAMPLES = ['curl', 'jq'];
/** Tools with which tests inspect results, and fonts from which fixtures were made. */
const TESTS = ['libimage-exiftool-perl', 'fonts-urw-base35'];
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
/** Servers of the image of one machine. Debian 13's Redis 8 is under the AGPL, so Valkey serves there. */
const IMAGE_SERVERS = ['postgresql-17', 'valkey-server', 'openssl', 'procps'];
/** Fonts for all scripts, and metric equivalents of the usual office fonts, so that documents keep their line breaks. */
const FONTS = [
  'fonts-dejavu-core',
  'fonts-liberation',
  'fonts-crosextra-carlito',
  'fonts-crosextra-caladea',
  'fonts-texgyre',
  'fonts-noto-core',
  'fonts-noto-cjk',
  // Emoji. LibreOffice 7.4 of Debian 12 writes those of fonts-noto-color-emoji into a PDF without pixels.
  'fonts-symbola',
];

const TOOL_PACKAGES = Object.values(DEBIAN_PACKAGES).flatMap((packages) => packages.split(' '));

/** Packages that decode and encode HEVC. Without them `worker-image/build-ffmpeg` makes the package of ffmpeg. */
const HEVC: readonly string[] = ['ffmpeg', 'libheif-plugin-libde265', 'libheif-plugin-x265'];
const IMAGE_PACKAGES = [...new Set([...IMAGE, ...FONTS, ...TOOL_PACKAGES])];

/** Packages by use. Those of `test` and `browser` are in addition to those of `service`. */
export const PACKAGES_BY_USE = {
  service: [...new Set([...SERVICE, ...EXAMPLES, ...FONTS, ...TOOL_PACKAGES])],
  test: TESTS,
  browser: BROWSER,
  image: IMAGE_PACKAGES,
  imageWithoutHevc: IMAGE_PACKAGES.filter((name) => !HEVC.includes(name)),
  imageServers: IMAGE_SERVERS,
} as const satisfies Record<string, readonly string[]>;

function isUse(name: string): name is keyof typeof PACKAGES_BY_USE {
  return Object.hasOwn(PACKAGES_BY_USE, name);
}

if (import.meta.main) {
  const { use = '' } = parseArgs({ options: { use: { type: 'string' } } }).values;
  if (!isUse(use)) throw new Error(`--use is one of ${Object.keys(PACKAGES_BY_USE).join(', ')}, not ${use}`);
  process.stdout.write(`${PACKAGES_BY_USE[use].join('\n')}\n`);
}

/** Prints the Debian packages that the service and its tests need on one machine, one per line. */
import { DEBIAN_PACKAGES } from '#worker-image/tools/debian-packages.ts';

/** Servers and commands that the embedded service starts itself. */
const SERVICE = ['postgresql-15', 'redis-server', 'openssl', 'util-linux', 'procps', 'python3-venv', 'ca-certificates'];
/** So that documents keep their line breaks: metric twins of the usual office and PostScript fonts. */
const FONTS = [
  'fonts-dejavu-core',
  'fonts-liberation',
  'fonts-crosextra-carlito',
  'fonts-crosextra-caladea',
  'fonts-urw-base35',
];

const tools = Object.values(DEBIAN_PACKAGES).flatMap((packages) => packages.split(' '));
for (const name of new Set([...SERVICE, ...FONTS, ...tools])) process.stdout.write(`${name}\n`);

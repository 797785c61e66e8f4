/** Embeds the images that LibreOffice wrote beside an HTML page. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { FORMATS, formatOfName } from '#crds/catalogue/formats.ts';
import type { LibreOfficeOutput } from '#worker-image/engine/office/run-libreoffice.ts';

/** Replaces the addresses of image files by `data:` URLs. The filter of Calc writes files whatever its options. */
export async function embedImages({ path, directory }: LibreOfficeOutput): Promise<void> {
  const images = (await readdir(directory)).filter((name) => name !== basename(path));
  if (images.length === 0) return;
  const urls = new Map<string, string>();
  for (const name of images) urls.set(name, await dataUrl(join(directory, name)));
  const html = await readFile(path, 'utf8');
  await writeFile(
    path,
    html.replaceAll(/src="([^"]{1,300})"/g, (whole, name: string) => {
      const url = urls.get(name);
      return url === undefined ? whole : `src="${url}"`;
    }),
  );
}

async function dataUrl(path: string): Promise<string> {
  const format = formatOfName(basename(path));
  const type = format === null ? `image/${extname(path).slice(1)}` : FORMATS[format].mediaType;
  return `data:${type};base64,${(await readFile(path)).toString('base64')}`;
}

/** Makes one file of an HTML page whose pictures LibreOffice wrote beside it. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { FORMATS, formatOfName } from '#crds/formats.ts';
import type { LibreOfficeOutput } from '#worker-image/engine/office/run-libreoffice.ts';

/** Calc's filter writes pictures as files, whatever it is told; each becomes a `data:` address. */
export async function embedPictures({ path, directory }: LibreOfficeOutput): Promise<void> {
  const pictures = (await readdir(directory)).filter((name) => name !== basename(path));
  if (pictures.length === 0) return;
  const urls = new Map<string, string>();
  for (const name of pictures) urls.set(name, await dataUrl(join(directory, name)));
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

import type { Route } from '#api/dashboard/route.ts';

export interface Matched {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** Routes of the path, whatever their methods; one without parameters goes before one that has some. */
export function matchRoutes(routes: readonly Route[], path: string): readonly Matched[] {
  const found = routes.flatMap((route) => {
    const params = paramsOf(route.path, path);
    return params === null ? [] : [{ route, params }];
  });
  const fewest = Math.min(...found.map(({ params }) => Object.keys(params).length));
  return found.filter(({ params }) => Object.keys(params).length === fewest);
}

function paramsOf(pattern: string, path: string): Record<string, string> | null {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? '';
    if (!part.startsWith(':')) {
      if (part !== value) return null;
      continue;
    }
    const text = decoded(value);
    if (text === null || text === '') return null;
    params[part.slice(1)] = text;
  }
  return params;
}

function decoded(text: string): string | null {
  try {
    const plain = decodeURIComponent(text);
    return plain.includes('\0') ? null : plain;
  } catch {
    return null;
  }
}

import type { KubeClient } from '#crds/kube/kube-client.ts';

/** What may befall a watch on its way. */
export const TROUBLES = ['cut', 'doubled', 'late', 'stale'] as const;
export type Trouble = (typeof TROUBLES)[number];

/**
 * A client whose watches are cut in the middle of a line after a few chunks, come with every line twice,
 * or come late; `stale` lists what the server has in its cache, whatever was asked for.
 */
export function withTrouble(client: KubeClient, trouble: Trouble): KubeClient {
  // An event comes in several chunks: a watch that was always cut at the same one would never bring a large object.
  let patience = 2;
  const more = (): number => (patience += 1);
  return {
    ...client,
    list: (path, query) => client.list(path, trouble === 'stale' ? { ...query, resourceVersion: '0' } : query),
    async watch(path, query, signal) {
      const cut = new AbortController();
      const chunks = await client.watch(path, query, AbortSignal.any([signal, cut.signal]));
      return trouble === 'stale' ? chunks : troubled(chunks, { trouble, cut, cutAt: more() });
    },
  };
}

async function* troubled(
  chunks: AsyncIterable<Buffer>,
  { trouble, cut, cutAt }: { trouble: Exclude<Trouble, 'stale'>; cut: AbortController; cutAt: number },
): AsyncGenerator<Buffer> {
  let count = 0;
  for await (const chunk of chunks) {
    count += 1;
    if (trouble === 'cut' && count === cutAt) {
      yield chunk.subarray(0, Math.floor(chunk.length / 2));
      cut.abort();
      continue;
    }
    if (trouble === 'late') await new Promise((resolve) => setTimeout(resolve, 300));
    yield chunk;
    if (trouble === 'doubled' && chunk.at(-1) === 10) yield chunk;
  }
}

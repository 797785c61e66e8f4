import { KubeError } from '#crds/kube/kube-error.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: KubeObject }
  | { readonly type: 'ERROR'; readonly object: { readonly code?: number; readonly message?: string } };

const TYPES: readonly string[] = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'];
/** Maximum length of a line. Objects have at most 1.5 MiB in etcd. */
const LINE_BYTES = 8 * 1024 ** 2;

/**
 * Yields the events of a watch. Ignores a truncated last line: the server sends the event again.
 * @throws KubeError for a line that is no event.
 */
export async function* watchEvents(chunks: AsyncIterable<Buffer>): AsyncGenerator<WatchEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LINE_BYTES) throw broken('a line is longer than any object');
    for (const line of lines) if (line.trim() !== '') yield parse(line);
  }
}

function parse(line: string): WatchEvent {
  try {
    const event = JSON.parse(line) as WatchEvent;
    if (TYPES.includes(event.type) && typeof event.object === 'object') return event;
  } catch {
    // Reported below.
  }
  throw broken(`this is no event: ${line.slice(0, 100)}`);
}

function broken(why: string): KubeError {
  return new KubeError(`watch: ${why}`, { status: 0, reason: 'BrokenStream' });
}

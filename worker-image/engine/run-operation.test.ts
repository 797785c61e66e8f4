import { describe, expect, it } from 'vitest';
import { engineDeps } from '#test/fixtures/engine-work.ts';
import type { InspectedFile, KindHandler } from '#worker-image/engine/handler.ts';
import { runOperation } from '#worker-image/engine/run-operation.ts';

const PRODUCED = { path: 'out', format: 'ttf', facts: {}, warnings: [] } as const;

function fileOf(handler: Partial<KindHandler>): InspectedFile {
  return { handler, work: { input: { kind: 'font' } }, facts: { pages: 3 } } as unknown as InspectedFile;
}

describe('runOperation', () => {
  it('calls the operation of the handler with work and facts', async () => {
    const file = fileOf({
      convert: (_deps, work, facts) =>
        Promise.resolve({ ...PRODUCED, warnings: [work.input.kind, String(facts.pages)] }),
    });
    expect((await runOperation(engineDeps(), file, 'convert')).warnings).toEqual(['font', '3']);
  });

  it('throws a TypeError, which is a bug, when the handler lacks the operation', () => {
    expect(() => runOperation(engineDeps(), fileOf({}), 'stripMetadata')).toThrow(TypeError);
  });
});

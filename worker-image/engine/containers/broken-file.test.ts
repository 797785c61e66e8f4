import { describe, expect, it } from 'vitest';
import { brokenFile } from '#worker-image/engine/containers/broken-file.ts';

describe('brokenFile', () => {
  it('returns a refusal that names the format and the damage', () => {
    expect(brokenFile('TIFF', 'a tag lies behind its end')).toMatchObject({
      name: 'MediaError',
      code: 'processing_failed',
      message: expect.stringMatching(/^The TIFF file is damaged or not complete: a tag lies behind its end\. /),
    });
  });
});

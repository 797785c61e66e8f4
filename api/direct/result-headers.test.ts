import { describe, expect, it } from 'vitest';
import { resultHeader, resultHeaders } from '#api/direct/result-headers.ts';
import type { EngineResult } from '#crds/contract/result.ts';

const result: EngineResult = {
  kind: 'image',
  input_format: 'png',
  output_format: 'webp',
  original_size: 200,
  output_size: 50,
  savings_percent: 75,
  kept_original: false,
  increased: false,
  width: 8,
  height: 6,
  pages: null,
  duration_seconds: null,
  video_codec: null,
  warnings: [],
};

describe('resultHeaders', () => {
  it('describe the file, with one decimal of the savings', () => {
    expect(resultHeaders({ result, filename: 'photo.png', billed: true })).toMatchObject({
      'Content-Type': 'image/webp',
      'Content-Length': 50,
      'Content-Disposition': 'attachment; filename="photo.webp"',
      'Svc-Savings-Percent': '75.0',
      'Svc-Kept-Original': 'false',
      'Svc-Billed': 'true',
    });
  });
});

describe('resultHeader', () => {
  it('is the result as JSON, without a download link', () => {
    expect(JSON.parse(resultHeader(result))).toEqual({ ...result, download_url: null, download_expires_at: null });
  });

  it('replaces characters outside of printable ASCII', () => {
    const text = resultHeader({ ...result, warnings: ['Größe\u{1f600}'] });
    expect(JSON.parse(text)).toMatchObject({ warnings: ['Gr??e??'] });
  });

  it('omits the last warnings of more than 4,000 bytes', () => {
    const warnings = Array.from({ length: 100 }, (_, index) => `warning ${index} ${'x'.repeat(90)}`);
    const text = resultHeader({ ...result, warnings });
    const kept = (JSON.parse(text) as EngineResult).warnings;
    expect(text.length).toBeLessThanOrEqual(4000);
    expect(kept).toEqual(warnings.slice(0, kept.length));
    expect(resultHeader({ ...result, warnings: warnings.slice(0, kept.length + 1) })).toBe(text);
  });
});

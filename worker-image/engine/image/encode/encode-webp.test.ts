import { describe, expect, it } from 'vitest';
import { exactWebpSettings, webpSettings } from '#worker-image/engine/image/encode/encode-webp.ts';
import { encoderQuality } from '#worker-image/engine/image/encode/quality-scale.ts';

describe('webpSettings', () => {
  it.each([
    ['graphic', true],
    ['photo', false],
  ] as const)('for a %s use sharp subsampling: %j', (content, isSharp) => {
    const settings = webpSettings({ quality: 75, content, encoders: encoderQuality(75, content) });
    expect(settings.smartSubsample).toBe(isSharp);
  });
});

describe('exactWebpSettings', () => {
  it('are lossless at quality 100 only', () => {
    expect(exactWebpSettings({ quality: 100 })).toMatchObject({ lossless: true });
    expect(exactWebpSettings({ quality: 99 })).toMatchObject({ nearLossless: true });
  });
});

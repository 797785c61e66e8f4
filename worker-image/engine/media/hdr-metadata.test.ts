import { describe, expect, it } from 'vitest';
import { engineDeps } from '#test/fixtures/engine-work.ts';
import { readHdrMetadata, type HdrMetadata } from '#worker-image/engine/media/hdr-metadata.ts';

const MASTERING = {
  side_data_type: 'Mastering display metadata',
  red_x: '35400/50000',
  red_y: '14600/50000',
  green_x: '8500/50000',
  green_y: '39850/50000',
  blue_x: '6550/50000',
  blue_y: '2300/50000',
  white_point_x: '15635/50000',
  white_point_y: '16450/50000',
  min_luminance: '50/10000',
  max_luminance: '10000000/10000',
};
const LIGHT = { side_data_type: 'Content light level metadata', max_content: 1000, max_average: 400 };

/** Reads the metadata from the output of ffprobe. */
function metadataOf(stdout: string): Promise<HdrMetadata> {
  const run = () => Promise.resolve({ exitCode: 0, stdout, stderr: '' });
  return readHdrMetadata(engineDeps({ run }), { input: { path: 'x', format: 'mp4' }, directory: '/tmp', stream: 0 });
}
const frame = (...sideData: readonly object[]): string => JSON.stringify({ frames: [{ side_data_list: sideData }] });

describe('readHdrMetadata', () => {
  it('returns both descriptions in the syntax of x265', async () => {
    expect(await metadataOf(frame(MASTERING, LIGHT))).toEqual({
      masterDisplay: 'G(8500,39850)B(6550,2300)R(35400,14600)WP(15635,16450)L(10000000,50)',
      maxLight: '1000,400',
    });
  });

  it('converts other fractions to the units of x265', async () => {
    const { masterDisplay } = await metadataOf(frame({ ...MASTERING, red_x: '3/4', max_luminance: '1000/1' }));
    expect(masterDisplay).toContain('R(37500,14600)');
    expect(masterDisplay).toContain('L(10000000,50)');
  });

  it.each<readonly [string, string]>([
    ['no frame', '{"frames": []}'],
    ['a frame without side data', '{"frames": [{}]}'],
    ['another type of frames', '{"frames": 7}'],
    ['a missing coordinate', frame({ ...MASTERING, blue_y: undefined })],
    ['a coordinate divided by 0', frame({ ...MASTERING, blue_y: '1/0' })],
    ['a coordinate with options in it', frame({ ...MASTERING, blue_y: '1/1:log=x' })],
    ['a maximum of 0', frame({ ...LIGHT, max_content: 0 })],
    ['a maximum that is no number', frame({ ...LIGHT, max_content: '5:log=x' })],
  ])('returns null for %s', async (_what, printed) => {
    expect(await metadataOf(printed)).toEqual({ masterDisplay: null, maxLight: null });
  });
});

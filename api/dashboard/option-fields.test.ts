import { describe, expect, it } from 'vitest';
import { EMPTY_FORM } from '#api/dashboard/form.ts';
import { nestedOptions, optionFields, optionsOfFields } from '#api/dashboard/option-fields.ts';
import { OPTION_PATHS, parseJsonOptions } from '#crds/catalogue/options/options.ts';

describe('the fields of the options', () => {
  it('are those of the interface, each once', () => {
    const markup = (['image', 'pdf', 'video', 'audio', 'convert'] as const)
      .map((group) => optionFields(EMPTY_FORM, group, true).markup)
      .join('');
    const names = [...markup.matchAll(/ name="([a-z_.]+)"/g)].map(([, name]) => name);
    expect(names.toSorted()).toEqual([...OPTION_PATHS].toSorted());
  });

  it('set numbers, booleans and texts, and leave out what is empty', () => {
    const form = new URLSearchParams({ 'image.quality': '60', 'image.strip_metadata': 'false', 'image.format': '' });
    form.set('convert.to', 'png');
    expect(nestedOptions(optionsOfFields(form))).toEqual({
      image: { quality: 60, strip_metadata: false },
      convert: { to: 'png' },
    });
  });

  it('refuse a value with the path of its option', () => {
    expect(() => optionsOfFields(new URLSearchParams({ 'image.quality': '500' }))).toThrow(
      expect.objectContaining({ code: 'invalid_options', param: 'image.quality' }),
    );
  });
});

describe('nested options', () => {
  it.each([
    [{ image: { resize: false } }],
    [{ image: { resize: { mode: 'fill', width: 300 } }, pdf: { quality: 'tiny' } }],
  ])('are what was flattened: %j', (options) => {
    expect(nestedOptions(parseJsonOptions(options))).toEqual(options);
  });

  it('have the box of a resize that is also on', () => {
    const form = new URLSearchParams({ 'image.resize': 'true', 'image.resize.width': '300' });
    expect(nestedOptions(optionsOfFields(form))).toEqual({ image: { resize: { width: 300 } } });
  });
});

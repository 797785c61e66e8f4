import { expect, it } from 'vitest';
import { escapeHtml } from '#crds/process/escape-html.ts';

it('escapeHtml returns text that neither ends an attribute nor begins an element or an entity', () => {
  expect(escapeHtml(`<a title="x" id='y'>&amp;`)).toBe('&lt;a title=&quot;x&quot; id=&#39;y&#39;&gt;&amp;amp;');
  expect(escapeHtml('größer')).toBe('größer');
});

import { describe, expect, it } from 'vitest';
import { html } from '#api/dashboard/html.ts';

describe('a template', () => {
  it('escapes every value in elements and attributes', () => {
    const value = `<b>"it's" & more</b>`;
    expect(html`<p title="${value}">${value}</p>`.markup).toBe(
      '<p title="&lt;b&gt;&quot;it&#39;s&quot; &amp; more&lt;/b&gt;">&lt;b&gt;&quot;it&#39;s&quot; &amp; more&lt;/b&gt;</p>',
    );
  });

  it('inserts markup of other templates, joins lists and omits null and false', () => {
    const list = html`${[1, '<', html`<li>x</li>`]}${null}${false}${0}`;
    expect(list.markup).toBe('1&lt;<li>x</li>0');
  });

  it('rejects an object that only resembles markup', () => {
    const forged = JSON.parse('{"markup":"<b>"}') as never;
    expect(() => html`${forged}`).toThrow(TypeError);
  });
});

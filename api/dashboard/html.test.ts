import { describe, expect, it } from 'vitest';
import { html } from '#api/dashboard/html.ts';

describe('a template', () => {
  it('writes every value as text, in elements and attributes', () => {
    const value = `<b>"it's" & more</b>`;
    expect(html`<p title="${value}">${value}</p>`.markup).toBe(
      '<p title="&lt;b&gt;&quot;it&#39;s&quot; &amp; more&lt;/b&gt;">&lt;b&gt;&quot;it&#39;s&quot; &amp; more&lt;/b&gt;</p>',
    );
  });

  it('keeps markup of other templates, writes lists one after the other and nothing for null and false', () => {
    const list = html`${[1, '<', html`<li>x</li>`]}${null}${false}${0}`;
    expect(list.markup).toBe('1&lt;<li>x</li>0');
  });

  it('takes no object for markup that only looks like it', () => {
    const forged = JSON.parse('{"markup":"<b>"}') as never;
    expect(() => html`${forged}`).toThrow(TypeError);
  });
});

/* What pages do beyond plain HTML: times in the reader's zone, copying, comparisons and live jobs. All of it works
   without them. */

const UNITS = [
  ['day', 86400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

/** Returns a time as “3 minutes ago”; after a week as a date. */
function since(date) {
  const seconds = Math.round((date.getTime() - Date.now()) / 1000);
  if (Math.abs(seconds) > 7 * 86400) return date.toLocaleDateString(undefined, { dateStyle: 'medium' });
  const [unit, length] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? UNITS[3];
  return relative.format(Math.trunc(seconds / length), unit);
}

for (const time of document.querySelectorAll('time[datetime]')) {
  const date = new Date(time.dateTime);
  if ('relative' in time.dataset) time.textContent = since(date);
  else if ('clock' in time.dataset) time.textContent = date.toLocaleTimeString(undefined, { timeStyle: 'short' });
  else time.textContent = date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

/** Lays the two images of a comparison over each other, with a slider that says how much of the first one is seen. */
export function addSlider(comparison) {
  const [before, after] = comparison.querySelectorAll('img, canvas');
  if (after === undefined) return;
  const stack = document.createElement('div');
  stack.className = 'stack';
  const cover = before.cloneNode();
  cover.getContext?.('2d').drawImage(before, 0, 0);
  const under = after.cloneNode();
  under.getContext?.('2d').drawImage(after, 0, 0);
  cover.removeAttribute('alt');
  cover.setAttribute('aria-hidden', 'true');
  stack.append(under, cover);
  const label = document.createElement('label');
  label.textContent = 'Left of the slider: before. Right of it: after.';
  const slider = document.createElement('input');
  Object.assign(slider, { type: 'range', min: 0, max: 100, value: 50 });
  label.append(slider);
  const show = () => (cover.style.clipPath = `inset(0 ${100 - slider.value}% 0 0)`);
  slider.addEventListener('input', show);
  show();
  comparison.querySelector('.stack')?.parentElement.remove();
  const both = document.createElement('div');
  both.append(stack, label);
  comparison.append(both);
}
for (const comparison of document.querySelectorAll('.compare')) addSlider(comparison);

/** Returns the value of a field as JSON has it. */
function valueOf(text) {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^\d+$/.test(text) ? Number(text) : text;
}

/** Returns the options that fields with dotted names set, nested. */
export function nested(fields) {
  const options = {};
  for (const { name, value } of fields) {
    if (value === '') continue;
    const path = name.split('.');
    const last = path.pop();
    let group = options;
    for (const part of path) {
      if (typeof group[part] !== 'object') group[part] = {};
      group = group[part];
    }
    if (typeof group[last] !== 'object') group[last] = valueOf(value);
  }
  return options;
}

// Fields and their JSON follow each other.
for (const box of document.querySelectorAll('[data-options]')) {
  const json = document.getElementById(box.dataset.options);
  const fields = [...box.querySelectorAll('input, select')];
  box.addEventListener('input', () => (json.value = JSON.stringify(nested(fields), null, 2)));
  json.addEventListener('input', () => {
    let options;
    try {
      options = JSON.parse(json.value === '' ? '{}' : json.value);
    } catch {
      return;
    }
    for (const field of fields) {
      const value = field.name.split('.').reduce((group, part) => group?.[part], options);
      field.value = value === undefined || typeof value === 'object' ? '' : String(value);
    }
  });
}

export function wireCopyButtons(part) {
  for (const button of part.querySelectorAll('button[data-copy]')) {
    const label = button.textContent;
    const say = (text) => {
      button.textContent = text;
      setTimeout(() => (button.textContent = label), 2000);
    };
    button.addEventListener('click', () => {
      const source = document.getElementById(button.dataset.copy);
      navigator.clipboard.writeText(source.textContent).then(
        () => say('Copied'),
        () => {
          getSelection().selectAllChildren(source);
          say('Selected: copy it now');
        },
      );
    });
  }
}
wireCopyButtons(document);

for (const region of document.querySelectorAll('[data-live]')) {
  const events = new EventSource(region.dataset.live);
  events.addEventListener('message', ({ data }) => {
    const { id, status, percent } = JSON.parse(data);
    const state = region.querySelector(`[data-job="${CSS.escape(id)}"]`);
    if (state === null) return;
    const label = state.querySelector('.status');
    label.textContent = status;
    label.className = `status ${status}`;
    const bar = state.querySelector('progress');
    if (bar !== null) bar.value = percent;
    const text = state.querySelector('.percent');
    if (text !== null) text.textContent = `${percent} %`;
    if (status === 'queued' || status === 'processing') return;
    bar?.remove();
    text?.remove();
  });
  events.addEventListener('end', () => {
    events.close();
    if (region.dataset.reload === 'true') location.reload();
  });
  // The session has ended, or the service starts anew: the browser tries again by itself.
  addEventListener('pagehide', () => events.close());
}

/* Sends a file from the playground with a key, and shows the result. */
import { addSlider, nested, wireCopyButtons } from './dashboard.js';

/** Returns the size of a file in binary units, as the API counts. */
function sizeOf(bytes) {
  const units = ['bytes', 'KB', 'MB', 'GB'];
  const power = bytes < 1024 ? 0 : Math.min(3, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

/** Sends a request to the API with the key. @throws Error with the message of a refusal */
async function callApi(url, key, init) {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(url, { ...init, headers, credentials: 'omit' });
  if (response.ok) return response;
  const { error } = await response.json();
  throw new Error(`${error.code}: ${error.message}`);
}

/** Sends a file as a job, waits for its end and returns the result. */
async function runJob(base, key, { operation, file, options, say }) {
  const json = async (url, init) => (await callApi(url, key, init)).json();
  const body = JSON.stringify({ filename: file.name, size: file.size });
  const upload = await json(`${base}/v1/uploads`, { method: 'POST', body });
  if (upload.multipart) throw new Error('Files above 95 MB need an upload in parts: send them with a program.');
  await callApi(upload.url, key, { method: 'PUT', body: file });
  const order = JSON.stringify({ operation, input: { upload: upload.id }, options });
  let job = await json(`${base}/v1/jobs`, { method: 'POST', body: order });
  while (job.completed_at === null) {
    say(`${job.id}: ${job.status}, ${job.progress.percent} %`);
    await new Promise((resolve) => setTimeout(resolve, 500));
    job = await json(`${base}/v1/jobs/${job.id}`);
  }
  if (job.error !== null) throw new Error(`${job.error.code}: ${job.error.message}`);
  return callApi(`${base}/v1/jobs/${job.id}/output`, key);
}

/** Draws an image, so that no address has to be allowed; null for a file that the browser does not display. */
async function drawn(blob, text) {
  const bitmap = await createImageBitmap(blob).catch(() => null);
  if (bitmap === null) return null;
  const canvas = document.createElement('canvas');
  Object.assign(canvas, { width: bitmap.width, height: bitmap.height });
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', text);
  canvas.getContext('2d').drawImage(bitmap, 0, 0);
  return canvas;
}

/** Returns the images before and after as a comparison; null when one of them is no image. */
async function comparisonOf(before, after) {
  const both = await Promise.all([drawn(before, 'Before'), drawn(after, 'After')]);
  if (both.includes(null)) return null;
  const comparison = document.createElement('div');
  comparison.className = 'compare';
  const sides = document.createElement('div');
  sides.className = 'sides';
  sides.append(...both);
  comparison.append(sides);
  addSlider(comparison);
  return comparison;
}

/** Returns the link that saves a result. */
function linkTo(blob, disposition, name) {
  const link = document.createElement('a');
  link.className = 'button';
  link.href = URL.createObjectURL(blob);
  link.download = /filename="([^"]+)"/.exec(disposition ?? '')?.[1] ?? name;
  link.textContent = `Download ${link.download}`;
  return link;
}

const playground = document.querySelector('[data-playground]');
if (playground?.querySelector('[data-send]')) {
  const base = playground.dataset.playground;
  const form = playground.querySelector('#options');
  const result = playground.querySelector('#play-result');
  const picker = playground.querySelector('#play-file');
  const sample = playground.querySelector('#play-sample');
  const drop = playground.querySelector('.drop');

  /** Shows the request for the fields as they are. The server writes it. */
  const refresh = async () => {
    const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ''));
    history.replaceState(null, '', `?${query}`);
    const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), 'text/html');
    const request = page.querySelector('#request');
    const open = document.querySelector('#request details[open] summary')?.textContent;
    for (const one of request.querySelectorAll('details')) one.open = one.querySelector('summary').textContent === open;
    document.querySelector('#request').replaceWith(request);
    wireCopyButtons(request);
  };
  const choose = (name) => {
    form.elements.filename.value = name;
    void refresh();
  };
  form.addEventListener('change', () => void refresh());
  picker.addEventListener('change', () => {
    sample.value = '';
    if (picker.files.length > 0) choose(picker.files[0].name);
  });
  sample.addEventListener('change', () => {
    picker.value = '';
    if (sample.value !== '') choose(sample.value);
  });
  for (const name of ['dragover', 'drop']) drop.addEventListener(name, (event) => event.preventDefault());
  drop.addEventListener('drop', ({ dataTransfer }) => {
    picker.files = dataTransfer.files;
    picker.dispatchEvent(new Event('change'));
  });

  const fileToSend = async () => {
    if (sample.value === '') return picker.files[0];
    const response = await fetch(`/dashboard/samples/${sample.value}`);
    return new File([await response.blob()], sample.value);
  };
  const send = async (say) => {
    const key = playground.querySelector('#play-key').value.trim();
    const file = await fileToSend();
    if (key === '' || file === undefined) throw new Error('Enter a key and choose a file or a sample.');
    const operation = form.elements.operation.value;
    const fields = [...form.querySelectorAll('.options input, .options select')];
    const isDirect = !document.querySelector('#request pre').textContent.includes('/v1/jobs');
    const query = new URLSearchParams([['filename', file.name]]);
    for (const { name, value } of fields) if (value !== '') query.set(name, value);
    const response = isDirect
      ? await callApi(`${base}/v1/${operation.replace('_', '-')}?${query}`, key, { method: 'POST', body: file })
      : await runJob(base, key, { operation, file, options: nested(fields), say });
    const blob = await response.blob();
    const saved = ((100 * (file.size - blob.size)) / file.size).toFixed(1);
    say(`${sizeOf(file.size)} → ${sizeOf(blob.size)}: ${saved} % smaller.`);
    const link = linkTo(blob, response.headers.get('content-disposition'), file.name);
    const comparison = await comparisonOf(file, blob);
    result.append(link, ...(comparison === null ? [] : [comparison]));
  };
  const run = playground.querySelector('[data-run]');
  const runOnce = async () => {
    const text = document.createElement('p');
    const say = (message) => (text.textContent = message);
    result.replaceChildren(text);
    say('Sending …');
    run.disabled = true;
    await send(say).catch((error) => {
      text.className = 'problem';
      say(error.message);
    });
    run.disabled = false;
  };
  run.addEventListener('click', () => void runOnce());
}

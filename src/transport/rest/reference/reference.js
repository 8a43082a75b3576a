// Sends the forms of the reference page. The API key stays in its field and is never stored.
for (const origin of document.querySelectorAll('.origin')) origin.textContent = location.origin;

const key = document.querySelector('#key');

for (const form of document.querySelectorAll('.try form')) {
  const result = form.querySelector('.result');
  const output = result.querySelector('code');
  const stop = form.querySelector('.stop');
  let running = new AbortController();

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    running.abort();
    running = new AbortController();
    const { signal } = running;
    result.hidden = false;
    output.textContent = '';
    stop.disabled = false;
    try {
      const response = await send(form, signal);
      const limits = ['x-request-id', 'x-run-id', 'x-ratelimit-remaining', 'retry-after'];
      const headers = limits.filter((name) => response.headers.has(name));
      output.textContent = [
        `${response.status} ${response.statusText}`,
        ...headers.map((name) => `${name}: ${response.headers.get(name)}`),
        '',
        '',
      ].join('\n');
      const isJson = response.headers.get('content-type')?.startsWith('application/json');
      if (isJson) output.textContent += JSON.stringify(await response.json(), null, 2);
      else await show(response, output);
    } catch (error) {
      if (!signal.aborted) output.textContent += error.message;
    } finally {
      if (running.signal === signal) stop.disabled = true;
    }
  });

  stop.addEventListener('click', () => {
    running.abort();
    stop.disabled = true;
  });
}

function send(form, signal) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = new Headers({ accept: 'application/json, text/event-stream' });
  if (key.value) headers.set('authorization', `Bearer ${key.value}`);
  let body;
  for (const field of form.querySelectorAll('[data-in]')) {
    const { name, value } = field;
    if (value === '') continue;
    if (field.dataset.in === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    if (field.dataset.in === 'query') query.set(name, value);
    if (field.dataset.in === 'header') headers.set(name, latin1Of(value));
    if (field.dataset.in === 'body') body = value;
  }
  if (body !== undefined) headers.set('content-type', 'application/json');
  const url = query.size > 0 ? `${path}?${query}` : path;
  return fetch(url, { method: form.dataset.method, headers, body, signal });
}

async function show(response, output) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    output.textContent += piece.value;
  }
}

// Headers are byte strings: encode the text as UTF-8.
function latin1Of(text) {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

key.form.addEventListener('submit', (event) => event.preventDefault());

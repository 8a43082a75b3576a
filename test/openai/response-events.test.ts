import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { hello, replyInTwoParts } from '../helpers/upstream.ts';
import { type Asker, createAsker, readEvents, type Sent } from './asker.ts';

let app: TestApp;
let tenant: Tenant;
let asker: Asker;
let bot: string;

beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  asker = await createAsker(app, tenant.apiKey);
  bot = await tenant.bot();
});

beforeEach(() => app.upstream.script(hello));

const PATH = '/responses';
const bodyOf = (more = {}) => ({ model: bot, input: 'Hi', stream: true, ...more });
const respond = (more = {}) => asker.stream(PATH, bodyOf(more));
const typesOf = (events: Sent[]) => events.map(({ event }) => event);

/** Reads the stream of a stored response. */
const resume = async (id: string, query = ''): Promise<Sent[]> => {
  const answer = await asker.ask(`${PATH}/${id}?stream=true${query}`);
  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  return readEvents(await answer.text(), PATH, asker.contract);
};

const WHOLE = [
  'response.created',
  'response.in_progress',
  'response.output_item.added',
  'response.content_part.added',
  'response.output_text.delta',
  'response.output_text.delta',
  'response.output_text.delta',
  'response.output_text.done',
  'response.content_part.done',
  'response.output_item.done',
  'response.completed',
];

describe('a streamed response', () => {
  test('has the events of OpenAI in order, numbered from 0', async () => {
    const events = await respond();
    expect(typesOf(events)).toEqual(WHOLE);
    expect(events.map(({ data }) => data.type)).toEqual(WHOLE);
    expect(events.map(({ data }) => data.sequence_number)).toEqual(WHOLE.map((_, index) => index));
  });

  test('has the text in each of its forms, and the response as it is read', async () => {
    const events = await respond();
    const data = (type: string) => events.filter(({ event }) => event === type).map((e) => e.data);
    const [created] = data('response.created');
    const { id } = created.response;
    const part = { type: 'output_text', text: 'Hello there.', annotations: [], logprobs: [] };
    const item_id = id.replace('run_', 'msg_');
    expect(created.response).toMatchObject({ status: 'in_progress', output: [], usage: null });
    expect(data('response.output_text.delta').map(({ delta }) => delta)).toEqual([
      'Hello',
      ' ',
      'there.',
    ]);
    expect(data('response.output_item.added')[0]).toMatchObject({
      output_index: 0,
      item: { id: item_id, status: 'in_progress', content: [] },
    });
    expect(data('response.output_text.done')[0]).toMatchObject({ text: part.text, item_id });
    expect(data('response.content_part.done')[0]).toMatchObject({ part, content_index: 0 });
    expect(data('response.output_item.done')[0].item).toMatchObject({
      status: 'completed',
      content: [part],
    });
    const stored = await (await asker.ask(`${PATH}/${id}`)).json();
    expect(data('response.completed')[0].response).toEqual(stored);
  });

  test('continues a previous response', async () => {
    const [first] = await respond();
    const previous_response_id = first?.data.response.id;
    const events = await respond({ previous_response_id });
    expect(events.at(-1)?.data.response).toMatchObject({
      previous_response_id,
      conversation: first?.data.response.conversation,
    });
  });

  test('is outside of conversations with store: false', async () => {
    const events = await respond({ store: false });
    expect(events.at(-1)?.data.response).toMatchObject({ status: 'completed', conversation: null });
  });

  test('ends as incomplete if the reply was cut', async () => {
    app.upstream.script(({ say, response }) => {
      say('Half');
      response.end('data: {"choices":[{"delta":{},"finish_reason":"length"}]}\n\ndata: [DONE]\n\n');
    });
    const events = await respond();
    expect(events.at(-1)).toMatchObject({
      event: 'response.incomplete',
      data: { response: { incomplete_details: { reason: 'max_output_tokens' } } },
    });
  });

  test('ends as failed if the run fails, at once or in the middle', async () => {
    app.upstream.script(({ say, cut }) => {
      say('Well');
      cut();
    });
    const events = await respond();
    expect(events.at(-1)).toMatchObject({
      event: 'response.failed',
      data: { response: { status: 'failed', error: { code: 'model_error' } } },
    });
    const id = events[0]?.data.response.id;
    expect(await resume(id)).toEqual(events);
  });
});

describe('a stored response as a stream', () => {
  test('has the same events as the first stream, and those after a number', async () => {
    const events = await respond();
    const id = events[0]?.data.response.id;
    expect(await resume(id)).toEqual(events);
    for (const number of [0, 4, 9]) {
      expect(await resume(id, `&starting_after=${number}`)).toEqual(events.slice(number + 1));
    }
    expect(await resume(id, '&starting_after=10')).toEqual([]);
  });

  test('follows a response that still runs', async () => {
    const finish = replyInTwoParts(app.upstream);
    const { id } = await asker.post(PATH, { model: bot, input: 'Hi', background: true });
    const answer = await asker.ask(`${PATH}/${id}?stream=true`);
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('The first part')) text += (await reader?.read())?.value ?? '';
    finish();
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done) break;
      text += value;
    }
    const events = readEvents(text, PATH, asker.contract);
    expect(events.at(-1)).toMatchObject({
      event: 'response.completed',
      data: {
        response: { id, output: [{ content: [{ text: 'The first part and the second.' }] }] },
      },
    });
    expect(await resume(id)).toEqual(events);
  });

  test('ends as incomplete if it was cancelled', async () => {
    const finish = replyInTwoParts(app.upstream);
    const { id } = await asker.post(PATH, { model: bot, input: 'Hi', background: true });
    await vi.waitFor(() => expect(app.upstream.openResponses()).toBe(1), 60_000);
    await asker.ask(`${PATH}/${id}/cancel`, { method: 'POST' });
    finish();
    const events = await resume(id);
    expect(events.at(-1)).toMatchObject({
      event: 'response.incomplete',
      data: { response: { status: 'cancelled' } },
    });
  });

  test('is read to the end by two readers at once', async () => {
    const finish = replyInTwoParts(app.upstream);
    const { id } = await asker.post(PATH, { model: bot, input: 'Hi', background: true });
    const readers = [resume(id), resume(id)];
    await vi.waitFor(() => expect(app.upstream.openResponses()).toBe(1), 60_000);
    finish();
    const [one, two] = await Promise.all(readers);
    expect(one).toEqual(two);
  });
});

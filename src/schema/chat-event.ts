import type { RunEvent } from '../runs/events.ts';
import { builder } from './builder.ts';

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

const RunStarted = builder.objectRef<EventOf<'RunStarted'>>('RunStarted').implement({
  description:
    'The first event of every run that begins. It comes again where a run in the background is begun again: what was said before it is no part of the reply.',
  fields: (t) => ({
    seq: t.exposeInt('seq'),
    runId: t.exposeID('runId'),
    sessionId: t.exposeString('sessionId', { nullable: true }),
  }),
});

const TextDelta = builder.objectRef<EventOf<'TextDelta'>>('TextDelta').implement({
  description: 'A fragment of the reply; all of them in order are the reply.',
  fields: (t) => ({ seq: t.exposeInt('seq'), delta: t.exposeString('delta') }),
});

const ToolStarted = builder.objectRef<EventOf<'ToolStarted'>>('ToolStarted').implement({
  description: 'A tool is called.',
  fields: (t) => ({
    seq: t.exposeInt('seq'),
    name: t.exposeString('name', { description: '<group>.<capability>' }),
    callId: t.exposeString('callId'),
  }),
});

const ToolFinished = builder.objectRef<EventOf<'ToolFinished'>>('ToolFinished').implement({
  description: 'A tool has answered, or failed.',
  fields: (t) => ({
    seq: t.exposeInt('seq'),
    name: t.exposeString('name'),
    callId: t.exposeString('callId'),
    failed: t.exposeBoolean('failed'),
    durationMs: t.exposeInt('durationMs'),
  }),
});

const ChatDone = builder.objectRef<EventOf<'ChatDone'>>('ChatDone').implement({
  description: 'The last event of a run that came to its end. It is stored.',
  fields: (t) => ({
    seq: t.exposeInt('seq'),
    runId: t.exposeID('runId'),
    latencyMs: t.exposeInt('latencyMs'),
    tokensUsed: t.exposeInt('tokensUsed'),
    toolsCalled: t.exposeStringList('toolsCalled'),
  }),
});

const ChatFailed = builder.objectRef<EventOf<'ChatFailed'>>('ChatFailed').implement({
  description: 'The last event of a run that failed.',
  fields: (t) => ({
    seq: t.exposeInt('seq'),
    runId: t.exposeID('runId'),
    latencyMs: t.exposeInt('latencyMs'),
    code: t.string({ resolve: ({ code }) => code.toUpperCase() }),
    message: t.exposeString('message'),
  }),
});

const ChatCancelled = builder.objectRef<EventOf<'ChatCancelled'>>('ChatCancelled').implement({
  description: 'The last event of a run that was stopped. What was said until then is kept.',
  fields: (t) => ({
    seq: t.exposeInt('seq'),
    runId: t.exposeID('runId'),
    latencyMs: t.exposeInt('latencyMs'),
    tokensUsed: t.exposeInt('tokensUsed'),
  }),
});

/** What the subscriptions of runs tell. */
export const ChatEvent = builder.unionType('ChatEvent', {
  description: 'What happens in a run. `seq` counts the events of a run from 1, without gaps.',
  types: [RunStarted, TextDelta, ToolStarted, ToolFinished, ChatDone, ChatFailed, ChatCancelled],
  resolveType: ({ type }) => type,
});

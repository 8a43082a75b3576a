import type { RunEvent } from '../runs/events.ts';
import { builder } from './builder.ts';

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

const RunStarted = builder.objectRef<EventOf<'RunStarted'>>('RunStarted').implement({
  description:
    'First event of a run. A background run emits it again for each new attempt; discard the text before it.',
  fields: (t) => ({
    seq: t.exposeInt('seq'),
    runId: t.exposeID('runId'),
    sessionId: t.exposeString('sessionId', { nullable: true }),
  }),
});

const TextDelta = builder.objectRef<EventOf<'TextDelta'>>('TextDelta').implement({
  description: 'A fragment of the reply. The fragments in order form the reply.',
  fields: (t) => ({ seq: t.exposeInt('seq'), delta: t.exposeString('delta') }),
});

const ToolStarted = builder.objectRef<EventOf<'ToolStarted'>>('ToolStarted').implement({
  description: 'A tool call started.',
  fields: (t) => ({
    seq: t.exposeInt('seq'),
    name: t.exposeString('name', { description: 'Name of the tool, as `<group>.<capability>`.' }),
    callId: t.exposeString('callId'),
  }),
});

const ToolFinished = builder.objectRef<EventOf<'ToolFinished'>>('ToolFinished').implement({
  description: 'A tool call finished or failed.',
  fields: (t) => ({
    seq: t.exposeInt('seq'),
    name: t.exposeString('name'),
    callId: t.exposeString('callId'),
    failed: t.exposeBoolean('failed'),
    durationMs: t.exposeInt('durationMs'),
  }),
});

const ChatDone = builder.objectRef<EventOf<'ChatDone'>>('ChatDone').implement({
  description: 'Last event of a completed run. The reply is stored.',
  fields: (t) => ({
    seq: t.exposeInt('seq'),
    runId: t.exposeID('runId'),
    latencyMs: t.exposeInt('latencyMs'),
    tokensUsed: t.exposeInt('tokensUsed'),
    toolsCalled: t.exposeStringList('toolsCalled'),
  }),
});

const ChatFailed = builder.objectRef<EventOf<'ChatFailed'>>('ChatFailed').implement({
  description: 'Last event of a failed run.',
  fields: (t) => ({
    seq: t.exposeInt('seq'),
    runId: t.exposeID('runId'),
    latencyMs: t.exposeInt('latencyMs'),
    code: t.string({ resolve: ({ code }) => code.toUpperCase() }),
    message: t.exposeString('message'),
  }),
});

const ChatCancelled = builder.objectRef<EventOf<'ChatCancelled'>>('ChatCancelled').implement({
  description: 'Last event of a cancelled run. The run keeps the text generated so far.',
  fields: (t) => ({
    seq: t.exposeInt('seq'),
    runId: t.exposeID('runId'),
    latencyMs: t.exposeInt('latencyMs'),
    tokensUsed: t.exposeInt('tokensUsed'),
  }),
});

export const ChatEvent = builder.unionType('ChatEvent', {
  description: 'An event of a run. `seq` numbers the events of a run from 1, without gaps.',
  types: [RunStarted, TextDelta, ToolStarted, ToolFinished, ChatDone, ChatFailed, ChatCancelled],
  resolveType: ({ type }) => type,
});

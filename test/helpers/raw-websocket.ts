import { once } from 'node:events';
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { openSocket, requestText } from './wire.ts';

const TEXT = 0x81;
const CLOSE = 0x88;

/** A WebSocket whose client writes the bytes of its frames itself. */
export type RawWebSocket = {
  socket: Socket;
  /** Writes bytes, each piece in a write of its own. */
  write(bytes: Buffer, pieceBytes?: number): void;
  /** The next message. */
  message(): Promise<string>;
  /** How the server closes the connection, such as `4408 Message timeout`. */
  closed: Promise<string>;
};

/** The headers of a request for a WebSocket. */
export const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': Buffer.alloc(16).toString('base64'),
  'sec-websocket-protocol': 'graphql-transport-ws',
};

/** A frame with a mask of zeros. Source: RFC 6455, section 5.2. */
export function frame(data: string, { opcode = 1, isFinal = true } = {}): Buffer {
  const bytes = Buffer.from(data);
  const length = bytes.length < 126 ? [bytes.length] : [126, bytes.length >> 8, bytes.length & 255];
  if (bytes.length > 0xffff) throw new Error('The data is too long for a short frame.');
  const [first = 0, ...extended] = length;
  const header = [opcode | (isFinal ? 0x80 : 0), first | 0x80, ...extended, 0, 0, 0, 0];
  return Buffer.concat([Buffer.from(header), bytes]);
}

/** The header of a frame with data of this length, up to 2³² - 1 bytes. */
export function headerOfLongFrame(bytes: number): Buffer {
  const header = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(bytes, 6);
  return header;
}

/** Opens a WebSocket for GraphQL without sending a message. */
export async function openRawWebSocket(url: string): Promise<RawWebSocket> {
  const socket = openSocket(url).setNoDelay();
  onTestFinished(() => void socket.destroy());
  socket.write(requestText('GET /graphql/ws', UPGRADE));
  await once(socket, 'data');
  const messages: string[] = [];
  const closed = Promise.withResolvers<string>();
  let changed = () => {};
  let rest = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (let found = readFrame(rest); found; found = readFrame(rest)) {
      rest = rest.subarray(found.end);
      if (found.opcode === CLOSE) closed.resolve(reasonOf(found.data));
      else if (found.opcode === TEXT) messages.push(String(found.data));
      changed();
    }
  });
  socket.once('close', () => closed.resolve('closed without a close frame'));
  return {
    socket,
    write(bytes, pieceBytes = bytes.length) {
      for (let at = 0; at < bytes.length; at += pieceBytes)
        socket.write(bytes.subarray(at, at + pieceBytes));
    },
    async message() {
      while (messages.length === 0)
        await new Promise<void>((resolve) => {
          changed = resolve;
        });
      return messages.shift() ?? '';
    },
    closed: closed.promise,
  };
}

function reasonOf(data: Buffer): string {
  return data.length < 2 ? '1005' : `${data.readUInt16BE(0)} ${data.subarray(2)}`;
}

/** The first frame of a server, which has no mask; `undefined` while it is incomplete. */
function readFrame(bytes: Buffer) {
  const [opcode, short] = bytes;
  if (opcode === undefined || short === undefined) return undefined;
  if (short === 127) throw new Error('The frame is too long for a test.');
  const start = short === 126 ? 4 : 2;
  if (bytes.length < start) return undefined;
  const end = start + (short === 126 ? bytes.readUInt16BE(2) : short);
  return bytes.length < end ? undefined : { opcode, data: bytes.subarray(start, end), end };
}

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that the model server received. */
export type UpstreamRequest = {
  headers: IncomingMessage['headers'];
  body: {
    model: string;
    messages: {
      role: string;
      content: string;
      tool_calls?: {
        id: string;
        function: { name: string; arguments: string };
        extra_content?: unknown;
      }[];
      tool_call_id?: string;
      reasoning_content?: string;
    }[];
    tool_choice?: string;
    tools?: { function: { name: string; description: string; parameters: object } }[];
    stream: boolean;
    temperature?: number;
    reasoning_effort?: string;
    max_tokens?: number;
    response_format?: object;
  };
};

/** Handles a request to the model server. */
export type Script = (exchange: Exchange) => Promise<void> | void;

export type Exchange = {
  request: UpstreamRequest;
  response: ServerResponse;
  /** Resolves when the caller disconnects. */
  closed: Promise<unknown>;
  /** Sends one fragment of the reply. */
  say(text: string): void;
  /** Sends tool calls in fragments, and ends the reply. */
  call(...calls: [name: string, input: unknown][]): void;
  /** Closes the connection in mid-reply, after all fragments are sent. */
  cut(): void;
  /** Ends the reply with a final usage chunk, like OpenAI's own server. */
  end(usage?: { prompt_tokens: number; completion_tokens: number }): void;
};

/** A scripted loopback server for OpenAI's chat completions. */
export type Upstream = {
  baseUrl: string;
  requests: UpstreamRequest[];
  /** The number of open responses. */
  openResponses(): number;
  /** Sets the script of all later requests. The default replies "Hello there." */
  script(script: Script): void;
  close(): Promise<void>;
};

/** The default script. */
export const hello: Script = ({ say, end }) => {
  for (const text of ['Hello', ' ', 'there.']) say(text);
  end();
};

/** Scripts replies of two parts. @returns a function that lets the second part be sent. */
export function replyInTwoParts({ script }: Pick<Upstream, 'script'>): () => void {
  const second = Promise.withResolvers<void>();
  script(async ({ say, end }) => {
    say('The first part');
    await second.promise;
    say(' and the second.');
    end();
  });
  return second.resolve;
}

export async function startUpstream(): Promise<Upstream> {
  let current = hello;
  const requests: UpstreamRequest[] = [];
  let openResponses = 0;
  const server = createServer(async (incoming, response) => {
    const chunks = await Array.fromAsync<Buffer>(incoming).catch(() => undefined);
    // The caller has disconnected.
    if (!chunks) return;
    const request = {
      headers: incoming.headers,
      body: JSON.parse(Buffer.concat(chunks).toString()),
    };
    requests.push(request);
    openResponses += 1;
    response.once('close', () => {
      openResponses -= 1;
    });
    const send = (chunk: unknown) => {
      if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    await current({
      request,
      response,
      closed: once(response, 'close'),
      say: (content) => send({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
      call: (...calls) => {
        for (const [index, [name, input]] of calls.entries()) {
          const text = typeof input === 'string' ? input : JSON.stringify(input);
          const id = `call_${requests.length}_${index}`;
          const half = Math.ceil(text.length / 2);
          for (const piece of [
            { index, id, type: 'function', function: { name, arguments: text.slice(0, half) } },
            { index, function: { arguments: text.slice(half) } },
          ]) {
            send({ choices: [{ index: 0, delta: { tool_calls: [piece] }, finish_reason: null }] });
          }
        }
        send({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] });
        send({ choices: [], usage: { prompt_tokens: 12, completion_tokens: 3 } });
        response.end('data: [DONE]\n\n');
      },
      cut: () => response.socket?.end(),
      end: (usage = { prompt_tokens: 12, completion_tokens: 3 }) => {
        send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
        send({ choices: [], usage });
        response.end('data: [DONE]\n\n');
      },
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    openResponses: () => openResponses,
    script: (script) => {
      current = script;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

import type { EgressResponse } from './response.ts';

/**
 * The shop of the demo bot. It answers in this process, without a network, so that its tool works on every machine. No
 * name below `.invalid` exists in DNS (RFC 6761, section 6.4).
 */
const HOST = 'demo.parley.invalid';

/** Answers a request to the shop of the demo bot. @returns undefined for a request to another host. */
export function askDemoShop({
  method,
  url,
}: {
  method: string;
  url: string;
}): EgressResponse | undefined {
  const address = URL.parse(url);
  if (address?.hostname !== HOST) return undefined;
  const isRefund = method === 'POST' && address.pathname === '/refunds';
  const body = isRefund
    ? { refunded: true, note: 'A demo: nothing was paid.' }
    : { error: 'unknown' };
  return {
    status: isRefund ? 200 : 404,
    contentType: 'application/json',
    text: JSON.stringify(body),
    truncated: false,
  };
}

import { isIPv4, isIPv6, SocketAddress } from 'node:net';

/** The network of all texts that are no address. */
const UNKNOWN = 'unknown';

/** An IPv4 address, also an IPv4-mapped one or one with a port. */
const USUAL = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)(?::\d+)?$/i;

/**
 * The network that counts as one client, wherever addresses count: an IPv4 address, or a /64 of IPv6, because one client
 * usually has a whole /64. Every spelling of an address gives the same network. An IPv4-mapped IPv6 address is its IPv4
 * address. A port, which some proxies append, and a zone are dropped.
 *
 * @param client the address. `undefined` and texts that are no address share one network.
 */
export function networkOf(client: string | undefined): string {
  if (client === undefined) return UNKNOWN;
  // The usual spellings first, because the others take microseconds.
  if (isIPv4(client)) return client;
  const address = client.replace(/^\[([^\]]*)\](?::\d+)?$/, '$1');
  const usual = USUAL.exec(address)?.[1];
  if (usual) return isIPv4(usual) ? usual : UNKNOWN;
  const [bare = ''] = address.split('%');
  if (!isIPv6(bare)) return UNKNOWN;
  const canonical = new SocketAddress({ address: bare, family: 'ipv6' }).address;
  const mapped = USUAL.exec(canonical)?.[1];
  if (mapped) return mapped;
  const [left = '', right] = canonical.replace(/\d+\.\d+\.\d+\.\d+$/, '0:0').split('::');
  const head = left ? left.split(':') : [];
  const tail = right ? right.split(':') : [];
  const zeros = right === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array<string>(zeros).fill('0'), ...tail].slice(0, 4).join(':');
}

import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { EgressError } from './error.ts';

/** Resolves a host name to all its addresses. */
export type HostLookup = (hostname: string) => Promise<{ address: string; family: number }[]>;

const CONNECT_TIMEOUT_MS = 10_000;
/** Addresses of one name that are tried. All addresses are checked first. */
const MAX_ADDRESSES = 16;
/** The time limit of one DNS query, and the number of attempts. */
const DNS_TIMEOUT_MS = 2_500;
const DNS_TRIES = 2;

/** IPv4 addresses outside the public internet: IANA's special-purpose registry, RFC 6890. */
const PRIVATE_IPV4 = [
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24',
  '192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24',
  '224.0.0.0/4 240.0.0.0/4',
  // A public address that reaches the host of every Azure machine.
  '168.63.129.16/32',
].join(' ');

/** IPv6 blocks that may be public: global unicast (RFC 4291), and IPv4 addresses through NAT64 (RFC 6052). */
const GLOBAL_IPV6 = '2000::/3 64:ff9b::/96';

/** Non-public parts of these blocks: protocols such as Teredo, documentation, and 6to4, which embeds any IPv4 address. */
const PRIVATE_IPV6 = '2001::/23 2001:db8::/32 2002::/16 3fff::/20';

const globalBlocks = new BlockList();
const privateBlocks = new BlockList();
for (const [address, bits] of blocks(PRIVATE_IPV4)) {
  privateBlocks.addSubnet(address, bits, 'ipv4');
  privateBlocks.addSubnet(`64:ff9b::${address}`, 96 + bits, 'ipv6');
}
for (const [address, bits] of blocks(PRIVATE_IPV6)) privateBlocks.addSubnet(address, bits, 'ipv6');
for (const [address, bits] of blocks(GLOBAL_IPV6)) globalBlocks.addSubnet(address, bits, 'ipv6');

function blocks(text: string): [address: string, bits: number][] {
  return text.split(' ').map((block) => {
    const [address = '', bits] = block.split('/');
    return [address, Number(bits)];
  });
}

/** Whether an address is on the public internet. False for an invalid address and for one with a zone. */
export function isPublicAddress(address: string): boolean {
  const family = address.includes('%') ? 0 : isIP(address);
  if (family === 4) return !privateBlocks.check(address, 'ipv4');
  return (
    family === 6 && globalBlocks.check(address, 'ipv6') && !privateBlocks.check(address, 'ipv6')
  );
}

/**
 * How a connection to a host is decided: `allowed` by the operator, refused without DNS (`blocked`), or after a lookup that
 * must find only public addresses (`checked`).
 */
type Decision = 'allowed' | 'blocked' | 'checked';

/** @throws TypeError for an invalid entry of `allowedHosts`. */
function createDecision(allowedHosts: readonly string[]) {
  const allowed = new Set(allowedHosts.map(readTarget));
  /** @param hostname IPv6 without brackets. */
  return (hostname: string, protocol: string, port: string | null | undefined): Decision => {
    if (allowed.has(`${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`)) return 'allowed';
    const isCalled = isIP(hostname) === 0 ? !isLocalName(hostname) : isPublicAddress(hostname);
    return isCalled ? 'checked' : 'blocked';
  };
}

/**
 * Whether a connection to the host of a URL is refused without DNS: a private or local address that the operator has not
 * allowed.
 *
 * @param allowedHosts as for `createGuardedConnector`.
 * @throws TypeError for an invalid entry of `allowedHosts`.
 */
export function createIsBlocked(allowedHosts: readonly string[]): (url: URL) => boolean {
  const decide = createDecision(allowedHosts);
  return ({ hostname, protocol, port }) =>
    decide(withoutBrackets(hostname), protocol, port) === 'blocked';
}

/**
 * Creates an undici connector that connects to public addresses only. It resolves a host name once and connects to the
 * checked addresses, which defeats DNS rebinding. A connection fails with EgressError `blocked` if any address of the
 * name is not public, and with `unreachable` if the name has no address.
 *
 * @param allowedHosts targets that are allowed even if private: `host:port` with a name or an address, IPv6 in brackets.
 * @param lookup by default the system's lookup for `allowedHosts`, and DNS for all other names.
 * @throws TypeError for an invalid entry of `allowedHosts`.
 */
export function createGuardedConnector(
  allowedHosts: string[],
  lookup?: HostLookup,
): buildConnector.connector {
  const decide = createDecision(allowedHosts);
  const open = connectorWith(lookup ?? ((hostname) => systemLookup(hostname, { all: true })));
  const lookupPublic = lookup ?? createDnsLookup();
  const guarded = connectorWith(async (hostname) => {
    const addresses = await lookupPublic(hostname);
    if (addresses.every(({ address }) => isPublicAddress(address))) return addresses;
    throw new EgressError('blocked');
  });

  return (options, callback) => {
    const decision = decide(options.hostname, options.protocol, options.port);
    if (decision === 'allowed') open(options, callback);
    else if (decision === 'checked') guarded(options, callback);
    else process.nextTick(callback, new EgressError('blocked'), null);
  };
}

/** Whether a name means this machine without DNS: RFC 6761, section 6.3. */
function isLocalName(hostname: string): boolean {
  return /(^|\.)localhost\.?$/i.test(hostname);
}

/**
 * Resolves names over DNS only. The system's lookup has two threads for the whole process, so a few slow names would
 * block all others.
 */
function createDnsLookup(): HostLookup {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  return async (hostname) => {
    const answers = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ]);
    return answers.flatMap((answer) => {
      if (answer.status === 'rejected') return [];
      return answer.value.map((address) => ({ address, family: isIP(address) }));
    });
  };
}

function connectorWith(resolve: HostLookup): buildConnector.connector {
  const find = async (hostname: string) => {
    const addresses = await resolve(hostname);
    const usable = addresses.filter(({ address }) => isIP(address) !== 0).slice(0, MAX_ADDRESSES);
    const [first] = usable;
    if (!first) throw new EgressError('unreachable');
    return { first, usable };
  };
  const lookup: LookupFunction = (hostname, { all }, callback) => {
    find(hostname).then(
      ({ first, usable }) => {
        if (all) callback(null, usable);
        else callback(null, first.address, first.family);
      },
      (error) => callback(error, ''),
    );
  };
  return buildConnector({ lookup, allowH2: false, timeout: CONNECT_TIMEOUT_MS });
}

/** Normalizes a target for comparison: the host as in a URL but without brackets, and the port. */
function readTarget(entry: string): string {
  const url = URL.parse(`http://${entry}`);
  if (!url?.hostname || `${url.pathname}${url.search}${url.hash}` !== '/' || !/:\d+$/.test(entry)) {
    throw new TypeError(`"${entry}" must have the form host:port.`);
  }
  return `${withoutBrackets(url.hostname)}:${url.port || 80}`;
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

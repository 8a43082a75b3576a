import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { EgressError } from './error.ts';

/** Finds every address of a host name. */
export type HostLookup = (hostname: string) => Promise<{ address: string; family: number }[]>;

/** A connection that is not made within this time is given up. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Addresses of one name that are tried, after all of them are checked. */
const MAX_ADDRESSES = 16;
/** For one query of DNS, and how often it is sent. */
const DNS_TIMEOUT_MS = 2_500;
const DNS_TRIES = 2;

/** IPv4 addresses that are not of the public internet: IANA's registry of special purposes, RFC 6890. */
const PRIVATE_IPV4 = [
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24',
  '192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24',
  '224.0.0.0/4 240.0.0.0/4',
  // Public by its number, yet every machine's host in Azure.
  '168.63.129.16/32',
].join(' ');

/** IPv6 that may be public: global unicast, RFC 4291, and NAT64 of IPv4 addresses, RFC 6052. */
const GLOBAL_IPV6 = '2000::/3 64:ff9b::/96';

/** What of it is not: protocols such as Teredo, documentation, and 6to4, which holds any IPv4 address. */
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

/** Whether an address is one of the public internet. What is no address is not, and neither is one with a zone. */
export function isPublicAddress(address: string): boolean {
  const family = address.includes('%') ? 0 : isIP(address);
  if (family === 4) return !privateBlocks.check(address, 'ipv4');
  return (
    family === 6 && globalBlocks.check(address, 'ipv6') && !privateBlocks.check(address, 'ipv6')
  );
}

/**
 * How undici connects, where only public addresses may be reached. A host name is resolved once, and the connection is
 * made to the addresses that were checked: a name that resolves differently each time (DNS rebinding) gains nothing. A
 * name with even one address that is not public is refused, one without an address is not reached. Such connections fail
 * with EgressError `blocked` and `unreachable`.
 *
 * @param allowedHosts `host:port`, a name or an address, of IPv6 in brackets: targets that are open whatever
 *   their address.
 * @param lookup by default the system's for `allowedHosts`, and DNS for all others.
 * @throws TypeError for an entry of `allowedHosts` that is not of this form.
 */
export function createGuardedConnector(
  allowedHosts: string[],
  lookup?: HostLookup,
): buildConnector.connector {
  const allowed = new Set(allowedHosts.map(readTarget));
  const open = connectorWith(lookup ?? ((hostname) => systemLookup(hostname, { all: true })));
  const lookupPublic = lookup ?? createDnsLookup();
  const guarded = connectorWith(async (hostname) => {
    const addresses = await lookupPublic(hostname);
    if (addresses.every(({ address }) => isPublicAddress(address))) return addresses;
    throw new EgressError('blocked');
  });

  return (options, callback) => {
    const { hostname, protocol, port } = options;
    const target = `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
    if (allowed.has(target)) open(options, callback);
    else if (isIP(hostname) === 0 ? !isLocalName(hostname) : isPublicAddress(hostname))
      guarded(options, callback);
    else process.nextTick(callback, new EgressError('blocked'), null);
  };
}

/** Names of this machine, which DNS need not know: RFC 6761, section 6.3. */
function isLocalName(hostname: string): boolean {
  return /(^|\.)localhost\.?$/i.test(hostname);
}

/**
 * Looks names up in DNS alone, without a thread: the system's lookup has two threads for the whole process, which names
 * that answer slowly hold against all others.
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

/** A target as it is compared: as a URL has it, without brackets, always with a port. */
function readTarget(entry: string): string {
  const url = URL.parse(`http://${entry}`);
  if (!url?.hostname || `${url.pathname}${url.search}${url.hash}` !== '/' || !/:\d+$/.test(entry)) {
    throw new TypeError(`"${entry}" is not of the form host:port.`);
  }
  return `${url.hostname.replace(/^\[(.*)\]$/, '$1')}:${url.port || 80}`;
}

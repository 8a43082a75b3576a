import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createEgress, type Egress } from '../../src/egress/egress.ts';
import { EgressError } from '../../src/egress/error.ts';
import { isPublicAddress } from '../../src/egress/guard.ts';
import { type Site, startSite } from '../helpers/site.ts';

let site: Site;
let egress: Egress | undefined;
beforeEach(async () => {
  site = await startSite();
});
afterEach(async () => {
  await egress?.close();
  await site.close();
});

const use = (options: Partial<Parameters<typeof createEgress>[0]> = {}) => {
  egress = createEgress({ allowedHosts: [], ...options });
  return egress;
};
const get = (url: string, { request } = use(), timeout = 10_000) =>
  request({ method: 'GET', url, headers: {}, timeout, signal: new AbortController().signal });

/** The code of the error. Its message must not name the target. */
const refusal = async (url: string, through?: Egress, timeout?: number) => {
  const error = await get(url, through, timeout).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(EgressError);
  expect(error.message).toMatch(/^[A-Za-z_',: ]+\.$/);
  expect(site.requests).toEqual([]);
  return error.code;
};

const resolvingTo =
  (...addresses: string[]) =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

describe('the egress guard', () => {
  test.each([
    ['loopback', '127.0.0.1'],
    ['loopback, elsewhere in its block', '127.255.255.254'],
    ['loopback in decimal', '2130706433'],
    ['loopback in octal', '0177.0.0.1'],
    ['loopback as one octal number', '017700000001'],
    ['loopback in hexadecimal', '0x7f.0.0.1'],
    ['loopback as one hexadecimal number', '0x7f000001'],
    ['loopback in parts of mixed notations', '0x7f.0.01'],
    ['loopback, shortened', '127.1'],
    ['loopback with a trailing dot', '127.0.0.1.'],
    ['loopback in circled digits', '①②⑦.⓪.⓪.①'],
    ['loopback in full-width digits', '１２７．０．０．１'],
    ['loopback percent-encoded', '%31%32%37.0.0.1'],
    ['loopback by name', 'localhost'],
    ['loopback by name in upper case', 'LOCALHOST'],
    ['this network', '0.0.0.0'],
    ['this network, shortened', '0'],
    ['this network, elsewhere in its block', '0.1.2.3'],
    ['a private address of 10/8', '10.0.0.1'],
    ['a private address of 10/8 in decimal', '167772161'],
    ['the first private address of 172.16/12', '172.16.0.0'],
    ['the last private address of 172.16/12', '172.31.255.255'],
    ['a private address of 192.168/16', '192.168.1.1'],
    ['shared address space', '100.64.0.1'],
    ['the metadata of Alibaba Cloud', '100.100.100.200'],
    ['link-local, the metadata of most clouds', '169.254.169.254'],
    ['link-local in decimal', '2852039166'],
    ['the metadata of Oracle Cloud', '192.0.0.192'],
    ['the host of machines in Azure', '168.63.129.16'],
    ['documentation, first block', '192.0.2.1'],
    ['documentation, second block', '198.51.100.1'],
    ['documentation, third block', '203.0.113.1'],
    ['relays of 6to4', '192.88.99.1'],
    ['benchmarks', '198.19.255.255'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['IPv6 unspecified', '[::]'],
    ['IPv6 loopback', '[::1]'],
    ['IPv6 loopback in full', '[0:0:0:0:0:0:0:1]'],
    ['IPv6 link-local', '[fe80::1]'],
    ['IPv6 link-local, the last', '[febf::1]'],
    ['IPv6 site-local', '[fec0::1]'],
    ['IPv6 unique-local', '[fd00::1]'],
    ['IPv6 metadata of Amazon', '[fd00:ec2::254]'],
    ['IPv6 multicast', '[ff02::1]'],
    ['IPv6 documentation', '[2001:db8::1]'],
    ['IPv6 documentation, second block', '[3fff::1]'],
    ['IPv6 discard', '[100::1]'],
    ['Teredo', '[2001:0:7f00:1::1]'],
    ['IPv4-mapped loopback', '[::ffff:127.0.0.1]'],
    ['IPv4-mapped link-local in hexadecimal', '[::ffff:a9fe:a9fe]'],
    ['IPv4-mapped private', '[::ffff:10.0.0.1]'],
    ['IPv4-compatible loopback', '[::127.0.0.1]'],
    ['IPv4-translated loopback', '[::ffff:0:127.0.0.1]'],
    ['6to4 of loopback', '[2002:7f00:1::]'],
    ['6to4 of private', '[2002:c0a8:101::1]'],
    ['NAT64 of loopback', '[64:ff9b::127.0.0.1]'],
    ['NAT64 of link-local', '[64:ff9b::a9fe:a9fe]'],
    ['NAT64 of a local prefix', '[64:ff9b:1::8.8.8.8]'],
  ])('refuses %s', async (_what, host) => {
    expect(await refusal(`http://${host}:${site.port}/`)).toBe('blocked');
    expect(await refusal(`https://${host}/`)).toBe('blocked');
  });

  test.each([
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '::1',
    'fd00::1',
    'fe80::1%eth0',
    '3ffe::1%eth0',
    '::ffff:127.0.0.1',
    '64:ff9b::a00:1',
    'no address',
  ])('refuses a name that resolves to %s', async (address) => {
    const through = use({ lookup: resolvingTo(address) });
    expect(await refusal(`http://shop.example:${site.port}/`, through)).toBe('blocked');
  });

  test.each([
    ['no addresses', []],
    ['invalid addresses', ['shop.example', '']],
  ])('cannot reach a name that resolves to %s, even if it is allowed', async (_to, answer) => {
    const lookup = async () => answer.map((address) => ({ address, family: 4 }));
    const allowed = use({ lookup, allowedHosts: [`shop.internal:${site.port}`] });
    expect(await refusal(`http://shop.internal:${site.port}/`, allowed)).toBe('unreachable');
    await egress?.close();
    const url = `http://shop.example:${site.port}/`;
    expect(['unreachable', 'blocked']).toContain(await refusal(url, use({ lookup })));
  });

  test('tries at most 16 addresses of a name', async () => {
    // No server listens at the first ones.
    const addresses = [...Array(16).fill('127.0.0.2'), '127.0.0.1'];
    const allowedHosts = [`shop.internal:${site.port}`];
    const url = `http://shop.internal:${site.port}/`;
    const through = use({ allowedHosts, lookup: resolvingTo(...addresses) });
    expect(await refusal(url, through)).toBe('unreachable');
    await egress?.close();
    const fewer = use({ allowedHosts, lookup: resolvingTo(...addresses.slice(1)) });
    expect(await get(url, fewer)).toMatchObject({ status: 200 });
  });

  test.each(['localhost', 'shop.localhost', 'LOCALHOST.'])('never resolves %s', async (host) => {
    const through = use({ lookup: () => Promise.reject(new Error('It was resolved.')) });
    expect(await refusal(`http://${host}:${site.port}/`, through)).toBe('blocked');
  });

  test('refuses a name if any of its addresses is private', async () => {
    const through = use({ lookup: resolvingTo('8.8.8.8', '127.0.0.1') });
    expect(await refusal(`http://shop.example:${site.port}/`, through)).toBe('blocked');
  });

  test('connects to the address that it checked, even if the name resolves differently later', async () => {
    // 3ffe::/16 counts as public, but is not routed: RFC 3701.
    const answers = ['3ffe::1', '127.0.0.1'];
    let lookups = 0;
    const lookup = () => resolvingTo(answers[lookups++] ?? '127.0.0.1')();
    const url = `http://shop.example:${site.port}/`;
    const through = use({ lookup });
    expect(['unreachable', 'timeout']).toContain(await refusal(url, through, 200));
    expect(lookups).toBe(1);
    expect(await refusal(url, through)).toBe('blocked');
    expect(lookups).toBe(2);
  });

  test.each([
    'ftp://shop.example/',
    'file:///etc/passwd',
    'data:text/plain,hi',
    'gopher://shop.example/',
    'ws://shop.example/',
    'unix:/var/run/docker.sock',
    'javascript:1',
    'http://user:password@shop.example/',
    'http://user@shop.example/',
    'http://shop.example@127.0.0.1/',
    'http://999.1.1.1/',
    'http://[::1%25lo]/',
    'http://a b/',
    '//shop.example/',
    '/orders',
    '',
  ])('refuses the invalid URL %j', async (url) => {
    expect(await refusal(url)).toBe('invalid-url');
  });

  test.each([
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '198.17.255.255',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001::1',
    '64:ff9b::808:808',
  ])('accepts %s as public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe('allowed hosts', () => {
  test('are allowed with their address and port only', async () => {
    const through = use({ allowedHosts: [site.host] });
    expect(await get(`http://127.0.0.1:${site.port}/`, through)).toMatchObject({ status: 200 });
    expect(await get(`http://2130706433:${site.port}/`, through)).toMatchObject({ status: 200 });
    site.requests.length = 0;
    expect(await refusal('http://127.0.0.1:1/', through)).toBe('blocked');
    expect(await refusal('http://127.0.0.1/', through)).toBe('blocked');
    expect(await refusal(`http://127.0.0.2:${site.port}/`, through)).toBe('blocked');
    expect(await refusal(`http://localhost:${site.port}/`, through)).toBe('blocked');
  });

  test('are allowed with their name only', async () => {
    const lookup = resolvingTo('127.0.0.1');
    const through = use({ allowedHosts: [`Shop.internal:${site.port}`], lookup });
    expect(await get(`http://shop.internal:${site.port}/`, through)).toMatchObject({ status: 200 });
    site.requests.length = 0;
    expect(await refusal(`http://other.internal:${site.port}/`, through)).toBe('blocked');
  });

  test('may be IPv6 addresses in brackets, and have default ports', async () => {
    const allowedHosts = ['[::1]:80', '[0:0::1]:1', '127.0.0.9:443'];
    const through = use({ allowedHosts });
    for (const url of ['http://[::1]/', 'http://[::1]:1/', 'https://127.0.0.9/']) {
      const outcome = await get(url, through).catch((error) => error.code);
      expect(outcome).not.toBe('blocked');
    }
    expect(await refusal('http://127.0.0.9/', through)).toBe('blocked');
  });

  test.each(['', 'shop.internal', '::1:80', '[::1]', 'shop.internal:80/path', 'a:99999', ':80'])(
    'are refused if invalid: %j',
    (entry) => {
      expect(() => createEgress({ allowedHosts: [entry] })).toThrow(TypeError);
    },
  );
});

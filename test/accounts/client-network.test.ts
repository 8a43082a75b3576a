import { isIPv4 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { networkOf } from '../../src/accounts/client-network.ts';

describe('the network of an address', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:4711', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['0:0:0:0:0:FFFF:C000:0201', '192.0.2.1'],
    ['0000:0000:0000:0000:0000:ffff:192.0.2.1', '192.0.2.1'],
    ['[::ffff:192.0.2.1]', '192.0.2.1'],
    ['[::ffff:c000:201]:4711', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2'],
    ['[2001:db8:1:2::1]:4711', '2001:db8:1:2'],
    ['2001:db8:1:2:3:4:192.0.2.1', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['::192.0.2.1', '0:0:0:0'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  test.each([
    undefined,
    '',
    'unknown',
    '192.0.2.256',
    '192.0.2.1, 192.0.2.2',
    '2001:db8::g',
    '[2001:db8::1',
    'x'.repeat(16_384),
  ])('is the common one of all texts that are no address: %.20s', (text) => {
    expect(networkOf(text)).toBe('unknown');
  });

  test('is the same for every spelling of an address, and for every address of its /64', () => {
    const group = fc.nat(0xffff);
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), group, (groups, last) => {
        const spellings = [
          groups.map((one) => one.toString(16)),
          groups.map((one) => one.toString(16).padStart(4, '0').toUpperCase()),
        ].map((parts) => parts.join(':'));
        const [network = ''] = spellings.map(networkOf);
        expect(new Set(spellings.map(networkOf))).toEqual(new Set([network]));
        if (isIPv4(network)) return;
        const neighbour = [...groups.slice(0, 7), last].map((one) => one.toString(16)).join(':');
        expect(networkOf(neighbour)).toBe(network);
      }),
    );
  });
});

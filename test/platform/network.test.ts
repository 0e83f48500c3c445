// The network of an address, by which limits count.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { networkOf } from '../../platform/network.ts';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:c000:0201', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['unknown', 'unknown'],
])('[AUTH-05] [FAIR-04] %s belongs to %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test('[AUTH-05] [FAIR-04] two addresses of IPv6 are one network where their first half is the same, however they are written', () => {
  const group = fc.integer({ min: 0, max: 0xffff });
  const half = fc.tuple(fc.integer({ min: 0x2000, max: 0x3fff }), group, group, group);
  const text = (groups: readonly number[]) => groups.map((number) => number.toString(16)).join(':');
  fc.assert(
    fc.property(half, half, half, (left, one, other) => {
      const padded = [...left, ...other].map((number) => number.toString(16).padStart(4, '0').toUpperCase()).join(':');
      expect(networkOf(text([...left, ...one]))).toBe(networkOf(padded));
      expect(networkOf(padded)).toBe(`${text(left)}::/64`);
    }),
  );
});

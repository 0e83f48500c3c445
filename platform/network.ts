// The network of a caller's address. Limits count by network, because one caller can use many addresses of it.
import { isIPv4, isIPv6 } from 'node:net';

/**
 * An IPv4 address is its own network, also when written as IPv6 (`::ffff:192.0.2.1`). The network of an IPv6 address is its /64
 * (`2001:db8:0:0::/64`). Text that is not an address, which a proxy may pass on, is its own network.
 */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address;
  const [plain = ''] = address.split('%');
  if (!isIPv6(plain)) return address.slice(0, 100);
  // URL normalises it: lower case, no leading zeros, a trailing IPv4 address as two groups.
  const canonical = new URL(`http://[${plain}]`).hostname.slice(1, -1);
  const [left = [], right = []] = canonical.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  const groups = [...left, ...zeros, ...right];
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff') {
    return groups
      .slice(6)
      .map((group) => Number.parseInt(group, 16))
      .flatMap((number) => [number >> 8, number & 255])
      .join('.');
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}

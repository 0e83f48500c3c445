// Which addresses are of the public internet. What callers make this service connect to must be: not its own machine, nor the
// operator's network, nor a cloud's metadata. JRN-05

import { lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** IANA's special-purpose networks. */
const INSIDE_V4: readonly (readonly [string, number])[] = [
  ...([
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
  ] as const),
  ...([
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.0.2.0', 24],
    ['192.88.99.0', 24],
    ['192.168.0.0', 16],
  ] as const),
  ...([
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
    ['224.0.0.0', 4],
    ['240.0.0.0', 4],
  ] as const),
];
/** Of these, inside 2000::/3: Teredo and its like, documentation, and IPv4 addresses in disguise (6to4). */
const INSIDE_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const inside = new BlockList();
for (const [network, bits] of INSIDE_V4) inside.addSubnet(network, bits, 'ipv4');
for (const [network, bits] of INSIDE_V6) inside.addSubnet(network, bits, 'ipv6');
/** The only part of IPv6 whose addresses are public: loopback, local, multicast and mapped ones are all outside it. */
const unicast = new BlockList();
unicast.addSubnet('2000::', 3, 'ipv6');

/** Whether this is an address of the public internet. */
export function isPublic(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !inside.check(address, 'ipv4');
  return version === 6 && unicast.check(address, 'ipv6') && !inside.check(address, 'ipv6');
}

/** A host of a URL without the brackets of an IPv6 address. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** The name leads to an address that is not public. */
export class PrivateAddress extends Error {}

/**
 * Resolves names to public addresses only. The socket connects to what this has checked, so a name that leads elsewhere a moment
 * later changes nothing.
 */
export const publicLookup =
  (lookup: LookupFunction = systemLookup): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, options, (error, found, family) => {
      const addresses = typeof found === 'string' ? [found] : (found ?? []).map(({ address }) => address);
      const refused = error ?? (addresses.every(isPublic) ? null : new PrivateAddress(`${hostname} leads inside`));
      callback(refused, found, family);
    });

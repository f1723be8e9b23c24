/**
 * Which addresses the service may connect to for a webhook. Anyone who manages webhooks chooses the address,
 * so it must not lead into the network of the service (ASVS 1.3.6).
 */
import { isIP } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Resolve } from '../../names.ts'
import { AddressRanges, isLoopbackHost } from '../../setting.ts'

/** IPv4 that is not globally reachable (IANA's special-purpose registry, 2025-10), and multicast. */
const refusedIpv4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
const reachableIpv4 = ['192.0.0.9/32', '192.0.0.10/32']

/**
 * All IPv6 but global unicast (2000::/3), and what the registry excludes from that. So forms that embed an
 * IPv4 address are refused: mapped, compatible, Teredo, 6to4. The exception is NAT64, see below.
 */
const refusedIpv6 = ['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']
const reachableIpv6 = [
  '2001:1::1/128',
  '2001:1::2/128',
  '2001:1::3/128',
  '2001:3::/32',
  '2001:4:112::/48',
  '2001:20::/28',
  '2001:30::/28',
]

/** NAT64 leads to the IPv4 address in the last 32 bits, so it may go wherever that may (RFC 6052 §2.1). */
const nat64 = '64:ff9b::'
const embedded = (range: string) => {
  const [address, bits] = range.split('/')
  return `${nat64}${address}/${96 + Number(bits)}`
}

const refused = new AddressRanges([...refusedIpv4, ...refusedIpv6])
const reachable = new AddressRanges([...reachableIpv4, ...reachableIpv6])
const translated = new AddressRanges([`${nat64}/96`])
const refusedTranslated = new AddressRanges(refusedIpv4.map(embedded))

/** Whether the public internet has the address, as far as an address shows that. */
export function isGloballyReachable(address: string): boolean {
  if (translated.has(address)) return !refusedTranslated.has(address)
  return reachable.has(address) || !refused.has(address)
}

/** The message names the address and the rule. */
class AddressRefused extends Error {}

const plainHttp = 'plain http is for addresses within WEBHOOK_NETWORKS'

/** How long adding a webhook waits for DNS. */
const patienceMilliseconds = 3_000

/** The addresses to which webhooks may go, and how names are resolved. */
export class Destinations {
  readonly #networks: AddressRanges
  readonly #resolve: Resolve

  /** `networks`: internal ranges that webhooks may reach as well, also by plain http. */
  constructor(networks: readonly string[], resolve: Resolve) {
    this.#networks = new AddressRanges(networks)
    this.#resolve = resolve
  }

  /**
   * The addresses of the URL's host. Throws an Error that names the rule if even one of them is refused. An
   * address in the URL is checked too, because Node would not look that up.
   */
  async addressesOf({ protocol, hostname }: Pick<URL, 'protocol' | 'hostname'>): Promise<string[]> {
    const addresses = addressesIn(hostname) ?? (await this.#resolve(hostname))
    if (addresses.length === 0) throw new Error('its host has no address')
    for (const address of addresses) {
      if (this.#networks.has(address)) continue
      if (protocol === 'http:') throw new AddressRefused(plainHttp)
      if (!isGloballyReachable(address)) {
        throw new AddressRefused(`${address} is not a public address, nor within WEBHOOK_NETWORKS`)
      }
    }
    return addresses
  }

  /**
   * Why the URL is refused; undefined if it is not. A host that cannot be found in a few seconds may be found
   * later, but plain http is for those that are known to be within the networks.
   */
  async refusalOf(url: URL): Promise<string | undefined> {
    const ofUnknown = url.protocol === 'http:' ? `${plainHttp}, and its host was not found` : undefined
    const patience = wait(patienceMilliseconds, ofUnknown, { ref: false })
    const look = this.addressesOf(url).then(
      () => undefined,
      (error) => (error instanceof AddressRefused ? error.message : ofUnknown),
    )
    return Promise.race([look, patience])
  }
}

/** The addresses that a host stands for by itself, without a resolver. */
function addressesIn(hostname: string): string[] | undefined {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(literal)) return [literal]
  // RFC 6761 §6.3: whatever a resolver says of these names.
  return isLoopbackHost(hostname.replace(/\.$/, '')) ? ['127.0.0.1'] : undefined
}

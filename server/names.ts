/**
 * Finds the addresses of other people's programs. A name server that does not answer delays only what needs
 * that name: each search ends in a few seconds, their number is bounded, and one search of a name serves all
 * who ask for it meanwhile (ADR 74).
 */
import { lookup, Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP, type LookupFunction } from 'node:net'

/** The addresses of a name; rejects with an Error that says why there are none. */
export type Resolve = (name: string) => Promise<string[]>

const searchLimitMilliseconds = 5_000
/** Each holds a socket. A service has at most 50 webhooks. */
const searchesLimit = 100

interface Machine {
  hosts?: string
  resolvConf?: string
  /** As `Resolver.setServers` takes them, instead of those of resolv.conf. */
  servers?: readonly string[]
}

/** For names that callers chose: asks the name servers, with the search list of resolv.conf. */
export function nameServers({ resolvConf = '/etc/resolv.conf', servers, ...machine }: Machine = {}): Resolve {
  return searchOnce(machine, async (name) => {
    const resolver = new Resolver({ timeout: 1_500, tries: 3 })
    if (servers !== undefined) resolver.setServers(servers)
    const limit = setTimeout(() => resolver.cancel(), searchLimitMilliseconds)
    let failed: Error | undefined
    try {
      for (const candidate of candidatesOf(name, await textOf(resolvConf))) {
        const { addresses, fault } = await ask(resolver, candidate)
        if (addresses.length > 0) return addresses
        // Another name may have another server.
        if (fault !== undefined && fault.code !== 'ESERVFAIL') throw fault
        failed ??= fault
      }
    } finally {
      clearTimeout(limit)
    }
    if (failed !== undefined) throw failed
    throw Object.assign(new Error(`${name} has no address`), { code: 'ENOTFOUND' })
  })
}

/**
 * For names that the operator set: asks the system, which knows more than name servers do. Each question
 * holds one of two threads of Node's, which connections to the database need too, so there is one at a time.
 */
export function systemNames(machine: Pick<Machine, 'hosts'> = {}, system = lookup): Resolve {
  let last: Promise<unknown> = Promise.resolve()
  return searchOnce(machine, (name) => {
    const found = last.then(() => system(name, { all: true }))
    last = found.catch(() => undefined)
    return found.then((all) => all.map(({ address }) => address))
  })
}

/** Looks at the file of hosts first. */
function searchOnce({ hosts = '/etc/hosts' }: Machine, search: Resolve): Resolve {
  const underWay = new Map<string, Promise<string[]>>()
  const begin = async (name: string) => {
    const listed = addressesIn(await textOf(hosts), name.replace(/\.$/, ''))
    return listed.length > 0 ? listed : search(name)
  }
  return (given) => {
    const name = given.toLowerCase()
    if (!underWay.has(name) && underWay.size >= searchesLimit) {
      return Promise.reject(new Error('too many names are being looked up'))
    }
    return joined(underWay, name, () => begin(name))
  }
}

/** Begins the work, or joins it while it is under way. */
export function joined<T>(
  underWay: Map<string, Promise<T>>,
  key: string,
  begin: () => Promise<T>,
): Promise<T> {
  const begun = underWay.get(key) ?? begin().finally(() => underWay.delete(key))
  underWay.set(key, begun)
  return begun
}

const hasNone = ['ENOTFOUND', 'ENODATA']

/** No addresses and no fault if the name has none. An answer about one family is enough. */
async function ask(resolver: Resolver, name: string) {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  const faults = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
  const fault = faults.find(({ code }) => !hasNone.includes(code))
  // It is the name server that refuses, and not the program that is looked for.
  if (fault?.code === 'ECONNREFUSED') fault.code = 'EAI_AGAIN'
  return { addresses, fault }
}

/** Fully qualified names for a name, as resolv.conf(5) orders them. */
function candidatesOf(name: string, resolvConf: string): string[] {
  if (name.endsWith('.')) return [name]
  const lines = resolvConf.split('\n').map((line) => line.trim().split(/\s+/))
  const last = (...keywords: string[]) => lines.findLast(([keyword = '']) => keywords.includes(keyword))
  const [, ...domains] = last('search', 'domain') ?? []
  const dots = Number(/\bndots:(\d+)/.exec((last('options') ?? []).join(' '))?.[1] ?? 1)
  const below = domains.map((domain) => `${name}.${domain.replace(/^\.|\.$/g, '')}`)
  return name.split('.').length > dots ? [name, ...below] : [...below, name]
}

function addressesIn(hosts: string, name: string): string[] {
  const lines = hosts.split('\n').map((line) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/))
  return lines.flatMap(([address = '', ...names]) => (isIP(address) && names.includes(name) ? [address] : []))
}

/** Empty if the machine has no such file. */
const textOf = (file: string) => readFile(file, 'utf8').catch(() => '')

/** Finds names for a socket. Node asks it for no literal address. */
export function lookupBy(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const all = addresses.map((address) => ({ address, family: isIP(address) }))
        const [first] = all
        if (options.all || first === undefined) callback(null, all)
        else callback(null, first.address, first.family)
      },
      (error) => callback(error, []),
    )
  }
}

/** The system's codes in words. */
const meanings: Record<string, string> = {
  ENOTFOUND: 'its name has no address',
  EAI_AGAIN: 'no name server answered',
  ESERVFAIL: 'its name server failed',
  EREFUSED: 'the name server refuses to answer',
  ETIMEOUT: 'no name server answered in time',
  ECANCELLED: 'no name server answered in time',
  ECONNREFUSED: 'it refused the connection',
  ECONNRESET: 'it broke off the connection',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
  ETIMEDOUT: 'it did not answer in time',
}

interface Failure {
  message: string
  code?: string
  syscall?: string
  errors?: Failure[]
}

/**
 * Why somebody else's program could not be asked, without its address: `it refused the connection
 * (ECONNREFUSED)`. A host with several addresses fails with one error for each.
 */
export function whyUnreachable(error: Failure): string {
  const code = error.code ?? error.errors?.[0]?.code
  if (!code) return error.message
  // The message of a system call has the address.
  const meaning = meanings[code] ?? (error.syscall === undefined ? error.message : undefined)
  return meaning === undefined ? code : `${meaning} (${code})`
}

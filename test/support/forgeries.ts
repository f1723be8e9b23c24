import type { Receipt } from '../../proof/receipt.ts'

/** Whole numbers below a limit, the same in each run (mulberry32). */
export function numbersFrom(start: number): (limit: number) => number {
  let state = start
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
}

/** A change that somebody without any key can make, and where it was made. */
export interface Forgery {
  name: string
  receipt: unknown
}

type Path = (string | number)[]

/** Everything in the receipt that a line or the checkpoint says. Nothing covers when it was made (`iat`). */
function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  const inside = Object.entries(value).flatMap(([name, part]) =>
    pathsIn(part, [...path, Array.isArray(value) ? Number(name) : name]),
  )
  return path.length === 0 ? inside.filter(([name]) => name !== 'iat') : [path, ...inside]
}

const changes: Record<string, (value: unknown, random: (limit: number) => number) => unknown> = {
  'another value': otherValue,
  null: () => null,
  'another type': (value) => (typeof value === 'string' ? 7 : `${value}`),
  'nothing of it': () => undefined,
  'a list of it': (value) => [value],
  'a number beyond 2^53': () => 2 ** 53,
  'an empty one': (value) => (Array.isArray(value) ? [] : typeof value === 'object' ? {} : ''),
}

function otherValue(value: unknown, random: (limit: number) => number): unknown {
  if (typeof value === 'number') return value + 1 + random(9)
  if (typeof value === 'boolean') return !value
  if (typeof value !== 'string')
    return Array.isArray(value) ? [...value].reverse() : { ...(value as object), more: 1 }
  const at = random(Math.max(value.length, 1))
  const other = value[at] === '1' ? '2' : '1'
  return value.slice(0, at) + other + value.slice(at + 1)
}

/** The paths of each receipt: listing them costs more than a forgery. */
const known = new WeakMap<Receipt, Path[]>()

/** One of all forgeries, as the numbers choose. Undefined if it is no change. */
export function forgeryOf(
  receipt: Receipt,
  others: readonly Receipt[],
  random: (limit: number) => number,
): Forgery | undefined {
  const pick = <T>(all: readonly T[]) => all[random(all.length)] as T
  const forged = structuredClone(receipt) as Receipt & Record<string, unknown>
  const other = pick(others)
  const structural: Record<string, () => unknown> = {
    'a line is missing': () => forged.lines.splice(random(forged.lines.length), 1),
    'a line is there twice': () => forged.lines.splice(random(forged.lines.length), 0, pick(receipt.lines)),
    'two lines are swapped': () =>
      forged.lines.push(...forged.lines.splice(0, 1 + random(forged.lines.length - 1))),
    'a line of another receipt': () => (forged.lines[random(forged.lines.length)] = pick(other.lines)),
    'the proof of another line': () => {
      ;(forged.lines[random(forged.lines.length)] as { proof: string[] }).proof = pick(other.lines).proof
    },
    'a letter of a name in its salt': () => {
      const [shown] = Object.values(pick(forged.lines).line.clear)
      if (shown?.value) {
        shown.salt += Buffer.from(shown.value.slice(0, 1)).toString('hex')
        shown.value = shown.value.slice(1)
      }
    },
    'another checkpoint': () => (forged.checkpoint = other.checkpoint),
    'all lines of another receipt': () => (forged.lines = other.lines),
    'another member': () => (forged.approvals = []),
  }
  if (random(4) === 0) {
    const name = pick(Object.keys(structural))
    structural[name]?.()
    return isSame(forged, receipt) ? undefined : { name, receipt: forged }
  }
  const paths = known.get(receipt) ?? pathsIn(receipt)
  known.set(receipt, paths)
  const path = pick(paths)
  const name = pick(Object.keys(changes))
  const parent = path.slice(0, -1).reduce<Record<string, unknown>>((at, step) => at[step] as never, forged)
  const last = path.at(-1) as string
  const value = changes[name]?.(parent[last], random)
  if (value === undefined && !Array.isArray(parent)) delete parent[last]
  else parent[last] = value
  return isSame(forged, receipt) ? undefined : { name: `${path.join('.')}: ${name}`, receipt: forged }
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

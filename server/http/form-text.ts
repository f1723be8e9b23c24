import { isUtf8 } from 'node:buffer'

export const formType = 'application/x-www-form-urlencoded'

/** A body that came as a form. */
export class Form {
  readonly parameters: RawQuery

  constructor(text: string) {
    this.parameters = parseQuery(text)
  }
}

/**
 * A parsed query string: null prototype, repeated parameters as arrays, undecodable ones as `undecodable`.
 */
export type RawQuery = Record<string, string | string[] | typeof undecodable>
export const undecodable = Symbol('undecodable')

/** For Fastify's `querystringParser`, and forms. Never throws; `+` is a space (WHATWG URL, form encoding). */
export function parseQuery(text: string): RawQuery {
  const query: RawQuery = Object.create(null)
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const separator = pair.indexOf('=')
    const name = decodeFormText(separator < 0 ? pair : pair.slice(0, separator))
    if (name === undecodable) continue
    const value = separator < 0 ? '' : decodeFormText(pair.slice(separator + 1))
    query[name] = name in query ? repeated : value
  }
  return query
}

/** Stands for all values of a repeated parameter, which are not used. */
const repeated: string[] = []

/**
 * Does not throw, which would be costly: a URL can hold thousands of faults, and no credential has been
 * checked yet.
 */
export function decodeFormText(text: string): string | typeof undecodable {
  const spaced = text.replaceAll('+', ' ')
  if (!spaced.includes('%')) return spaced
  if (/%(?![\dA-Fa-f]{2})/.test(spaced)) return undecodable
  const runs = spaced.match(/(?:%..)+/g) ?? []
  const areUtf8 = runs.every((run) => isUtf8(Buffer.from(run.replaceAll('%', ''), 'hex')))
  return areUtf8 ? decodeURIComponent(spaced) : undecodable
}

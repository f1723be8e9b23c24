import { globSync, readFileSync } from 'node:fs'
import { type ESTree, parseSync } from 'vite'

type Node = ESTree.Node

/**
 * What can be broken in a file: the link of a query (`where`), a throw, a call for its effect, an `if` (never
 * or always true), one side of `and` or `or`, a comparison, a property, a number (times a thousand), a text.
 */
export type Kind =
  | 'where'
  | 'throw'
  | 'call'
  | 'never'
  | 'always'
  | 'side'
  | 'compare'
  | 'property'
  | 'number'
  | 'text'

/**
 * `source` is at `start` to `end` of the file, inside the functions with these names, and becomes `broken`.
 */
export interface Place {
  file: string
  kind: Kind
  source: string
  within: string[]
  start: number
  end: number
  broken: string
}

const opposites: Record<string, string> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
}
const queryLinks = ['where', 'whereRef', '$if', 'innerJoin', 'orderBy', 'limit']

/** Every place of the code in these folders. The guards of the list are in the first three. */
export function allPlaces(root: string, folders: readonly string[] = ['proof', 'rules', 'server']): Place[] {
  const patterns = folders.map((folder) => `${folder}/**/*.{ts,tsx}`)
  const files = globSync(patterns, { cwd: root, exclude: ['**/test/**'] })
  return [...new Set(files)].sort().flatMap((file) => placesIn(root, file))
}

/** The places that a guard of the list means. If one is inside another, it is the inner one. */
export function placesOf(
  { kind, source, within }: { kind: Kind; source: string; within: string | undefined },
  all: readonly Place[],
): Place[] {
  const fit = all.filter(
    (place) =>
      place.kind === kind &&
      place.source.includes(source) &&
      (within === undefined || place.within.includes(within)),
  )
  return fit.filter((outer) => !fit.some((inner) => isInside(inner, outer)))
}

function isInside(inner: Place, outer: Place): boolean {
  const size = (place: Place) => place.end - place.start
  return (
    inner.file === outer.file &&
    inner.start >= outer.start &&
    inner.end <= outer.end &&
    size(inner) < size(outer)
  )
}

function placesIn(root: string, file: string): Place[] {
  const text = readFileSync(`${root}/${file}`, 'utf8')
  const places: Place[] = []
  const sourceOf = ({ start, end }: { start: number; end: number }) => text.slice(start, end)
  visit(parseSync(file, text).program, [], '')
  return places

  function visit(node: Node, within: string[], declared: string): void {
    const name = nameOf(node) ?? declared
    const inside = isFunction(node) ? [...within, name] : within
    const add = (
      kind: Kind,
      place: { start: number; end: number },
      broken: string,
      source = sourceOf(place),
    ) => places.push({ file, kind, source, within, start: place.start, end: place.end, broken })
    if (node.type === 'CallExpression' && node.callee.type === 'MemberExpression') {
      const { object, property } = node.callee
      const link = { start: object.end, end: node.end }
      if (property.type === 'Identifier' && queryLinks.includes(property.name)) add('where', link, '')
    }
    if (node.type === 'ThrowStatement') add('throw', node, '{}')
    if (node.type === 'ExpressionStatement' && /Call|Await/.test(node.expression.type)) add('call', node, ';')
    if (node.type === 'IfStatement') {
      add('never', node.test, 'Boolean(0)')
      add('always', node.test, 'Boolean(1)')
    }
    if (node.type === 'LogicalExpression' && node.operator !== '??') {
      add('side', node, sourceOf(node.right), sourceOf(node.left))
      add('side', node, sourceOf(node.left), sourceOf(node.right))
    }
    if (node.type === 'BinaryExpression' && opposites[node.operator] !== undefined) {
      add('compare', node, `${sourceOf(node.left)} ${opposites[node.operator]} ${sourceOf(node.right)}`)
    }
    if (node.type === 'ObjectExpression') {
      for (const property of node.properties) {
        const comma = /^\s*,/.exec(text.slice(property.end))?.[0].length ?? 0
        add('property', { start: property.start, end: property.end + comma }, '')
      }
    }
    if (node.type === 'Literal' && typeof node.value === 'number')
      add('number', node, String(node.value * 1_000 || 1_000), `${declared} ${node.raw}`)
    if (node.type === 'Literal' && typeof node.value === 'string') add('text', node, "''")
    if (node.type === 'TemplateElement' && node.value.raw !== '') add('text', node, '')
    for (const child of childrenOf(node)) visit(child, inside, name)
  }
}

function isFunction({ type }: Node): boolean {
  return /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type)
}

/** The name that a node gives to the functions and numbers below it. */
function nameOf(node: Node): string | undefined {
  const named = 'id' in node ? node.id : 'key' in node ? node.key : null
  return named !== null && typeof named === 'object' && 'name' in named ? String(named.name) : undefined
}

const notCode = /^(TSType|TSLiteralType|TSUnionType|TSInterface|Import|ExportAll)/

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((child): child is Node => typeof child?.type === 'string' && !notCode.test(child.type))
}

import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { allPlaces, type Place } from './places.ts'

/** If none of these fails, the place is unnoticed: other tests have little to do with it. */
const nearestTests = 30

/** The tests of code in a folder. For all other folders, those of the server. */
const testsOf: Record<string, string> = {
  web: 'test/{web,browser}/**',
  witness: '{witness/test,test/audit,test/cli}/**',
  server: 'test/{*,!(web|browser|deploy|simulation)/**}',
}

interface Known {
  test: string
  path: Set<string>
  text: Set<string>
}

/**
 * Places of the code in `folders` that follow from `seed`, each once and with its nearest tests. Half of them
 * refuse or throw.
 */
export function drawn(root: string, count: number, seed: string, folders: readonly string[]) {
  const known = globSync('{test,witness/test}/**/*.test.ts', { cwd: root }).map((test) => ({
    test,
    path: wordsOf(test),
    text: wordsOf(readFileSync(join(root, test), 'utf8')),
  }))
  const missing = folders.find((folder) => allPlaces(root, [folder]).length === 0)
  if (missing !== undefined) throw new Error(`there is no code in ${missing}`)
  const code = allPlaces(root, folders).filter(({ kind }) => kind !== 'text' && kind !== 'property')
  const refuses = (place: Place) => place.kind === 'throw' || /refus|error|cause|Problem/i.test(place.source)
  const digest = (place: Place) =>
    createHash('sha256')
      .update(`${seed} ${JSON.stringify(place)}`)
      .digest('hex')
  const shuffled = code
    .map((place) => [digest(place), place] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, place]) => place)
  const half = shuffled.filter(refuses).slice(0, Math.ceil(count / 2))
  const others = shuffled.filter((place) => !refuses(place)).slice(0, count - half.length)
  return [...half, ...others].map((place) => {
    const line = readFileSync(join(root, place.file), 'utf8').slice(0, place.start).split('\n').length
    const words = place.source.replaceAll(/\s+/g, ' ').slice(0, 70)
    const name = `${place.file}:${line} ${place.kind} ${words}`
    return { name, places: [place], tests: nearest(place, known) }
  })
}

/**
 * By the words that they share with the place, its functions and its path: the rarer a word, the nearer.
 * Tests in a browser come last.
 */
function nearest({ file, within, source }: Place, known: Known[]): string[] {
  const [top = ''] = file.split('/')
  const able = known.filter(({ test }) => matchesGlob(test, testsOf[top] ?? (testsOf.server as string)))
  const weights = [...wordsOf([file, ...within, source].join(' '))].map((word) => {
    const having = able.filter(({ text }) => text.has(word)).length
    return [word, Math.log(able.length / Math.max(1, having))] as const
  })
  const scoreOf = ({ path, text }: Known) =>
    weights
      .map(([word, weight]) => (text.has(word) ? weight : 0) + (path.has(word) ? 4 : 0))
      .reduce((sum, each) => sum + each, 0)
  const isBrowser = (test: string) => Number(test.startsWith('test/browser/'))
  return able
    .map((each) => ({ test: each.test, score: scoreOf(each) }))
    .sort((one, other) => other.score - one.score)
    .slice(0, nearestTests)
    .map(({ test }) => test)
    .sort((one, other) => isBrowser(one) - isBrowser(other))
}

/** `approveOrder` is also two words, and `orders` is `order`. */
function wordsOf(text: string): Set<string> {
  const names = text.match(/[A-Za-z]+/g) ?? []
  const parts = names.flatMap((name) => [name, ...name.split(/(?=[A-Z])/)])
  return new Set(parts.map((part) => part.toLowerCase().replace(/s$/, '')))
}

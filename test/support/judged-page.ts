import { spellVerifierKey, type VerifierKey } from '../../proof/note.ts'
import { check } from '../../verify/check.ts'
import { allOf, verdictOn, type Worth } from '../../verify/finding.ts'
import { recognise } from '../../verify/given.ts'
import type { Signer } from '../../witness/test/signed-log.ts'

/** A file that somebody adds to the page /verify. */
export type Added = [name: string, content: string | Buffer]

/** The keys of these signers. */
export const keysOf = (...signers: Signer[]): Added => [
  'keys.txt',
  signers.map(({ key }) => spellVerifierKey(key)).join('\n'),
]

type Said = Record<keyof Worth, string>

/**
 * The verdict and the sentences of the page on these files, if somebody vouches for the keys in them, without
 * the signs that isolate names.
 */
export async function judge(
  ...files: Added[]
): Promise<Said & { verdict: string | undefined; titles: string[]; restsOn: VerifierKey[] }> {
  const all = files.map(([name, content]) =>
    recognise(name, new Blob([Uint8Array.from(Buffer.from(content))])),
  )
  const given = (await Promise.all(all)).flat()
  const vouched = given.map((one) => ('from' in one ? { ...one, from: 'person' as const } : one))
  const { findings, restsOn } = await check(vouched, () => undefined)
  const said = Object.entries(allOf(findings)).map(([kind, sentences]) => [
    kind,
    sentences.join('\n').replaceAll(/[\u2068\u2069]/g, ''),
  ])
  return {
    ...(Object.fromEntries(said) as Said),
    verdict: verdictOn(findings),
    titles: findings.map(({ title }) => title),
    restsOn,
  }
}

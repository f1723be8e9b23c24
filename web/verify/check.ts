import { type Finding, nothingSaid } from './finding.ts'
import type { Given, KindOf } from './given.ts'
import { checkReceipt } from './receipt.ts'

/** One finding for each thing to check; keys alone ask for nothing. */
export function check(given: readonly Given[], origin: string | undefined): Promise<Finding[]> {
  const keySets = given.filter((one) => one.kind === 'keys')
  return Promise.all(
    given.flatMap((one) => {
      if (one.kind === 'receipt') return checkReceipt(one, keySets, origin).catch(() => notAReceipt(one))
      if (one.kind === 'unknown') return notRecognised(one)
      return []
    }),
  )
}

function notAReceipt({ name }: Given): Finding {
  return { ...nothingSaid, title: name, wrong: ['It does not say what a receipt says.'] }
}

function notRecognised({ name, reason }: KindOf<'unknown'>): Finding {
  return { ...nothingSaid, title: name, missing: [`This page cannot check it: ${reason}.`] }
}

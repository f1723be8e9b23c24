import type { ApprovedOrder } from '../../../../proof/order.ts'
import { endOfReceipt, type Receipt, startOfReceipt } from '../../../../proof/receipt.ts'
import { describeOrder } from '../../../../proof/words.ts'
import { withoutReordering } from '../../../../rules/isolate.ts'
import { formatExactInstant, formatTotal } from '../../ui/format.ts'

const style = `:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
.note { padding: .5rem .75rem; border-left: 4px solid #865100 }`

/**
 * The certificate as a page without a script: the words for people, and the receipt, which /verify reads. The
 * words are no part of the proof, and the first line says so.
 */
export function fileOf(order: ApprovedOrder, { iss }: Receipt, jws: string): string {
  const check = `${iss}/verify#receipt=${jws}`
  const sentences = describeOrder(order, {
    total: formatTotal,
    instant: formatExactInstant,
    name: withoutReordering,
  })
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Approval certificate of order #${order.number}</title>
<style>${style}</style>
<main>
<p class="note">The words of this file prove nothing, because anyone can change them. The receipt in it does:
<a href="${escaped(check)}">check it</a>, or add this file at ${escaped(iss)}/verify.</p>
<h1>Approval certificate of order #${order.number}</h1>
${sentences.map((sentence) => `<p>${escaped(sentence)}</p>`).join('\n')}
</main>
${startOfReceipt}${jws}${endOfReceipt}
</html>
`
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? '')

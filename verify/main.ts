import './page.css'
import { withoutReordering } from '../rules/isolate.ts'
import { check } from './check.ts'
import { type Finding, type Verdict, verdictOf } from './finding.ts'
import { type Given, recognise } from './given.ts'

/** Every text of a person or a file comes into the page as text, never as markup. */

const verdicts: Record<Verdict, { words: string; look: string }> = {
  nothing: { words: 'Nothing to check yet. Add a receipt or a log.', look: 'tone-quiet' },
  proven: { words: 'Valid.', look: 'tone-good' },
  missing: { words: 'Not proven yet: something is missing.', look: 'tone-wait' },
  wrong: { words: 'Not valid: do not rely on it.', look: 'tone-bad' },
}

const kinds: { of: Exclude<keyof Finding, 'title'>; title: string; tone: string }[] = [
  { of: 'wrong', title: 'Does not hold', tone: 'tone-bad' },
  { of: 'missing', title: 'Not proven', tone: 'tone-wait' },
  { of: 'proven', title: 'Proven', tone: 'tone-good' },
  { of: 'beyond', title: 'What this does not prove', tone: 'tone-quiet' },
]

const names: Record<Given['kind'], string> = {
  receipt: 'a receipt',
  proof: 'a line of a log, and the proof of its place',
  keys: 'keys of a service',
  log: 'a log',
  checkpoint: 'a checkpoint',
  logKey: 'the key of a log',
  witnessKey: 'the key of a witness',
  unknown: 'not recognised',
}

const fromLink = 'The receipt in the link'

const isOnDisk = location.protocol === 'file:'

let given: Given[] = []
let round = 0

function find<Type extends HTMLElement>(id: string): Type {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`page.html has no #${id}`)
  return found as Type
}

const [verdict, findings, list] = [find('verdict'), find('findings'), find('given')]
const chooser = find<HTMLInputElement>('files')
const text = find<HTMLTextAreaElement>('text')

function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className: string,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag)
  made.className = className
  made.append(...children)
  return made
}

async function add(contents: readonly { name: string; content: Blob }[]): Promise<void> {
  const added = await Promise.all(contents.map(({ name, content }) => recognise(name, content)))
  await replace([...given, ...added.flat()])
}

/** Checks everything again, because new keys can change each finding. */
async function replace(next: Given[]): Promise<void> {
  given = next
  round += 1
  const own = round
  list.replaceChildren(...given.map(itemOf))
  const progress = (part: number) => {
    if (own !== round) throw new Error('something was added or removed')
    verdict.className = `verdict ${verdicts.nothing.look}`
    verdict.textContent = `Reading the log: ${Math.floor(part * 10) * 10} % …`
  }
  const found = await check(given, { origin: isOnDisk ? undefined : location.origin, progress })
  if (own !== round) return
  const { words, look } = verdicts[verdictOf(found)]
  verdict.className = `verdict ${look}`
  verdict.textContent = words
  findings.replaceChildren(...found.map(articleOf))
}

function itemOf(one: Given): HTMLElement {
  const remove = element('button', '', 'Remove')
  remove.ariaLabel = `Remove ${one.name}`
  remove.onclick = () => {
    chooser.focus()
    void replace(given.filter((other) => other !== one))
  }
  const name = element('span', '', element('strong', '', withoutReordering(one.name)), `, ${names[one.kind]}`)
  return element('li', '', name, remove)
}

function articleOf(finding: Finding): HTMLElement {
  const title = element('h3', '', withoutReordering(finding.title))
  const parts = kinds
    .filter(({ of }) => finding[of].length > 0)
    .map((kind) => {
      const sentences = finding[kind.of].map((sentence) => element('li', '', sentence))
      return element(
        'section',
        `statements ${kind.tone}`,
        element('h4', '', kind.title),
        element('ul', '', ...sentences),
      )
    })
  return element('article', 'card', title, ...parts)
}

const addFiles = (files: Iterable<File>) =>
  add(Array.from(files, (file) => ({ name: file.name, content: file })))

/** The receipt in the link is never sent to a server: it comes after the `#`. Keys never come from a link. */
async function addFromLink(): Promise<void> {
  const receipt = new URLSearchParams(location.hash.slice(1)).get('receipt')
  if (receipt !== null) await add([{ name: fromLink, content: new Blob([receipt]) }])
}

chooser.onchange = () => {
  void addFiles(chooser.files ?? [])
  chooser.value = ''
}
find('paste').onsubmit = (event) => {
  event.preventDefault()
  const pasted = text.value
  text.value = ''
  if (pasted.trim() !== '') void add([{ name: 'The text that you pasted', content: new Blob([pasted]) }])
}
document.ondragover = (event) => {
  event.preventDefault()
  document.body.classList.add('is-dropping')
}
document.ondragleave = () => document.body.classList.remove('is-dropping')
document.ondrop = (event) => {
  event.preventDefault()
  document.body.classList.remove('is-dropping')
  void addFiles(event.dataTransfer?.files ?? [])
}
addEventListener('hashchange', () => void addFromLink())
find('save').hidden = isOnDisk
// A saved page may have kept what it showed.
void replace([]).then(addFromLink)

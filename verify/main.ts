import './page.css'
import { isOfLog, type VerifierKey } from '../proof/note.ts'
import { hostOf, type Verdict } from '../proof/verdict.ts'
import { conditionOf } from '../proof/words.ts'
import { isolated, withoutReordering } from '../rules/isolate.ts'
import { type Checked, check } from './check.ts'
import type { GivenKey } from './checkpoint.ts'
import { type Finding, nothingSaid, verdictOn } from './finding.ts'
import { type Given, recognise } from './given.ts'

/** Every text of a person or a file comes into the page as text, never as markup. */

const verdicts = {
  nothing: { words: 'Nothing to check yet. Add a certificate, a receipt or a log.', look: 'tone-quiet' },
  valid: { words: 'Valid', look: 'tone-good' },
  'not checked yet': { words: 'Not checked yet', look: 'tone-wait' },
  'not valid': { words: 'Not valid: do not rely on it.', look: 'tone-bad' },
}

const kinds: { of: Exclude<keyof Finding, 'title'>; title: string; tone: string }[] = [
  { of: 'wrong', title: 'Does not hold', tone: 'tone-bad' },
  { of: 'missing', title: 'Still needed', tone: 'tone-wait' },
  { of: 'said', title: 'What it says', tone: 'tone-quiet' },
  { of: 'proven', title: 'Proven', tone: 'tone-good' },
  { of: 'beyond', title: 'What this does not prove', tone: 'tone-quiet' },
]

const names: Record<Given['kind'], string> = {
  receipt: 'a receipt',
  proof: 'a line of a log, and the proof of its place',
  keys: 'keys for JWTs, which prove nothing more',
  log: 'a log',
  checkpoint: 'a checkpoint',
  logKey: 'the key of a log',
  witnessKey: 'the key of a witness',
  unknown: 'another file, perhaps a document',
}

const fromLink = 'The receipt in the link'

const isOnDisk = location.protocol === 'file:'

let given: Given[] = []
let round = 0
/** The keys that this service publishes for its log; none on a disk, or without a network. */
let published: GivenKey[] = []

function find<Type extends HTMLElement>(id: string): Type {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`page.html has no #${id}`)
  return found as Type
}

const [verdict, findings, list, next] = [find('verdict'), find('findings'), find('given'), find('next')]
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
  verdict.ariaBusy = 'true'
  const added = await Promise.all(contents.map(({ name, content }) => recognise(name, content)))
  await replace([...given, ...added.flat()])
}

/** Checks everything again, because new keys can change each finding. */
async function replace(following: Given[]): Promise<void> {
  given = following
  round += 1
  const own = round
  verdict.ariaBusy = 'true'
  list.replaceChildren(...given.map(itemOf))
  const progress = (part: number) => {
    if (own !== round) throw new Error('something was added or removed')
    verdict.className = `verdict ${verdicts.nothing.look}`
    verdict.textContent = `Reading the log: ${Math.floor(part * 10) * 10} % …`
  }
  const found = await check(given, progress)
  if (own !== round) return
  const all = found.findings.length > 0 ? [...found.findings, ...otherKeys()] : []
  const worth = verdictOn(all) ?? 'nothing'
  verdict.className = `verdict ${verdicts[worth].look}`
  const presses = worth === 'nothing' ? [] : offers(worth, found)
  next.replaceChildren(...presses)
  verdict.textContent = wordsOf(worth, found)
  findings.replaceChildren(...all.map(articleOf))
  verdict.ariaBusy = 'false'
}

function wordsOf(worth: keyof typeof verdicts, { restsOn }: Checked): string {
  const { words } = verdicts[worth]
  if (worth === 'not checked yet') {
    return `${words}: ${next.hasChildNodes() ? 'press below to check it.' : 'a key or a file is missing.'}`
  }
  return worth === 'valid' ? `${words}, ${conditionOf(restsOn, calledIn)}.` : words
}

function calledIn(key: VerifierKey): string {
  const one = given.find((other) => 'key' in other && other.key === key)
  if (one === undefined || !('from' in one)) return isolated(key.name)
  return one.from === 'service'
    ? `the key that ${location.host} gave this page`
    : `the key in ${isolated(one.name)}`
}

const isKey = (one: Given): one is GivenKey => 'from' in one
const isSame = (one: GivenKey, other: GivenKey) =>
  one.key.name === other.key.name && one.key.id === other.key.id

/** What to press next: the keys of this service, or that a key which was added is what it is called. */
function offers(worth: Verdict, { origins }: Checked): HTMLElement[] {
  const known = given.filter(isKey)
  const added = published.filter(
    (one) => !known.some((other) => isSame(one, other) && other.from !== 'unknown'),
  )
  const isOurs = worth === 'not checked yet' && added.some(({ key }) => origins.includes(key.name))
  const ours = isOurs ? [button(`Check with the key of ${location.host}`, () => [...given, ...added])] : []
  const claims = known
    .filter(({ from }) => from === 'unknown')
    .map((one) => {
      const whose = isOfLog(one.key) ? hostOf(one.key.name) : one.key.name
      return button(`I have the key in ${isolated(one.name)} from ${isolated(whose)}`, () =>
        given.map((other) => (other === one ? { ...one, from: 'person' } : other)),
      )
    })
  return [...ours, ...claims]
}

function button(words: string, following: () => Given[]): HTMLElement {
  const made = element('button', 'button-primary', words)
  made.type = 'button'
  made.onclick = () => {
    verdict.focus()
    void replace(following())
  }
  return made
}

/** The given keys of the log of this service that it does not publish. */
function otherKeys(): Finding[] {
  const ours = new Set(published.map(({ key }) => key.name))
  const others = given
    .filter(isKey)
    .filter((one) => ours.has(one.key.name) && !published.some((key) => isSame(key, one)))
  return others.map(({ name, key }) => {
    const words = `${location.host} publishes another key of its log than ${key.name}+${key.id} now. Do not rely on this one unless you know that it is a former key.`
    return { ...nothingSaid, title: `The key in ${name}`, missing: [words] }
  })
}

async function getPublished(): Promise<void> {
  const answer = await fetch('/v1/log/key')
  const keys = await recognise(`Key of ${location.host}`, await answer.blob())
  published = keys.filter(isKey).map((one) => ({ ...one, from: 'service' }))
  await replace(given)
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
document.ondragover = (event) => event.preventDefault()
document.ondrop = (event) => {
  event.preventDefault()
  void addFiles(event.dataTransfer?.files ?? [])
}
addEventListener('hashchange', () => void addFromLink())
find('save').hidden = isOnDisk
// A saved page may have kept what it showed.
void replace([]).then(addFromLink)
// Of this service alone, and nothing of what was added is in it.
if (!isOnDisk) void getPublished().catch(() => undefined)

import { client } from '../../api/client.ts'
import { ofThisPerson, onForget } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { ownTimeZone } from '../../ui/format.ts'
import { countInWords } from '../decide/changes.ts'
import { type Answer, Outbox, type Step, unsentUnder } from '../outbox.ts'
import { ordersChanged } from '../queries.ts'
import { faultOfFile } from './files.ts'

interface Upload {
  orderId: string
  file: File
  add(idempotencyKey: string): Promise<unknown>
}

export type UploadStep = Step<Upload, Answer<unknown>>

/** The documents that this page sends, one after another, whatever view is on the screen. */
const outbox = new Outbox<Upload, Answer<unknown>>({
  noun: 'document',
  isPatient: false,
  atATime: 1,
  send: async ({ subject: { orderId, add }, sent }, tryIt) => {
    const end = await tryIt(() => add(sent.idempotencyKey), sent)
    void ordersChanged(orderId)
    return end
  },
})

onForget(() => outbox.clear())

/** Adds the files to the order, as far as they can be documents. */
export function addFiles(orderId: string, files: readonly File[]): void {
  for (const file of files) {
    const fault = faultOfFile(file)
    if (fault !== undefined) announce(`${file.name} was not added. ${fault}`)
    else outbox.hold({ orderId, file, add: adding(orderId, file) }, unsentUnder(), 0)
  }
  void outbox.rest().then(sayHowMany)
}

function sayHowMany(): void {
  const isDone = ({ progress }: UploadStep) => progress.kind === 'done'
  const { length } = outbox.snapshot.get().steps.filter(isDone)
  if (length === 0) return
  outbox.remove(isDone)
  announce(`${countInWords(length)} added`)
}

function adding(orderId: string, file: File) {
  return (idempotencyKey: string) =>
    ofThisPerson(() => {
      const document = { name: file.name, bytes: file }
      return client.orders.addDocument(orderId, document, { idempotencyKey, timeZone: ownTimeZone })
    })()
}

/** The files of the order that are not there yet. */
export function useUploads(orderId: string): readonly UploadStep[] {
  const { steps } = outbox.snapshot.use()
  return steps.filter(({ subject, progress }) => subject.orderId === orderId && progress.kind !== 'done')
}

export function sendAgain(step: UploadStep): void {
  outbox.send((each) => each === step)
  void outbox.rest().then(sayHowMany)
}
export const dismiss = (step: UploadStep) => outbox.remove((each) => each === step)

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { sql } from '#kysely'
import {
  readCheckpoint,
  readNote,
  spellNote,
  spellVerifierKey,
  verifyCosignature,
} from '../../../proof/note.ts'
import { readReceipt } from '../../../proof/receipt.ts'
import { originOf, signCheckpoint } from '../../../server/audit/checkpoints/checkpoints.ts'
import { cosignedCheckpoint } from '../../../server/audit/checkpoints/store.ts'
import { headOfLog } from '../../../server/audit/lines/store.ts'
import { cosignatureBy, newSigner } from '../../../witness/test/signed-log.ts'
import { withRawDatabase } from '../../support/database.ts'
import { addEvents, seal } from '../../support/log.ts'
import { createdId, stamp } from '../../support/orders.ts'
import { assertProblem } from '../../support/problem.ts'
import { publicUrl, type Service, setUp, testService } from '../../support/service.ts'
import { contradict } from '../../support/witnessed.ts'

const witness = await newSigner('witness.example', 'cosignature/v1')
const LOG_WITNESSES = `${spellVerifierKey(witness.key)} http://localhost:1`

const at = 1_800_000_000

/** As a round does in which the witness cosigned the log as it is now. */
async function cosign({ db, logKeys }: Service): Promise<void> {
  await seal(db)
  const { era, ...head } = await headOfLog(db.read)
  const note = readNote(await signCheckpoint(logKeys, originOf(publicUrl, era), head))
  const signatures = [...note.signatures, cosignatureBy(witness, note.text, at)]
  await keep(db, { era, size: head.size, checkpoint: spellNote({ ...note, signatures }) })
}

type Cosigned = Record<'era' | 'size', number> & { checkpoint: string }

function keep(db: Service['db'], { era, size, checkpoint }: Cosigned) {
  const [cosigned, quorum] = [
    { size, checkpoint },
    { witnesses: [], needed: 1 },
  ]
  return db.write('keepFindings', { era, findings: [], cosigned, quorum, nowMilliseconds: at * 1_000 })
}

describe('a checkpoint that a quorum cosigned', () => {
  const service = testService({ env: { LOG_WITNESSES } })
  const admin = setUp(() => service.bearer('admin'))
  before(() => addEvents(service, 3))

  /** The size of the checkpoint that is served, and when it was cosigned. */
  async function served(query = '') {
    const note = readNote((await admin.get(`/v1/log/checkpoint${query}`)).text)
    return [readCheckpoint(note.text).size, await verifyCosignature(note, witness.key)]
  }
  const sizeNow = async () => (await headOfLog(service.db.read)).size
  const receiptOf = async (id: string): Promise<string> =>
    (await admin.get(`/v1/orders/${id}/receipt`)).body.receipt
  const cosignedAt = (receipt: string) =>
    verifyCosignature(readNote(readReceipt(receipt).checkpoint), witness.key)
  async function approved(made?: string): Promise<string> {
    const id = made ?? (await createdId(admin))
    assert.equal((await admin.patch(`/v1/orders/${id}/approve`)).status, 204)
    await seal(service.db)
    return id
  }

  it('is served until the next, although the log has grown, unless the latest is asked for', async () => {
    assert.deepEqual(await served(), [await sizeNow(), undefined])
    await cosign(service)
    const size = await sizeNow()
    await addEvents(service, 2)
    assert.deepEqual(await served(), [size, at])
    assert.deepEqual(await served('?latest=false'), [size, at])
    assert.deepEqual(await served('?latest=true'), [await sizeNow(), undefined])
    assertProblem(await admin.get('/v1/log/checkpoint?latest=1'), 400, 'validation-failed')
  })

  it('is served on when a slower round ends, which cosigned less', async () => {
    await cosign(service)
    const slower = await cosignedCheckpoint(service.db.read)
    assert.ok(slower)
    await addEvents(service, 2)
    await cosign(service)
    await keep(service.db, slower)
    assert.deepEqual(await served(), [await sizeNow(), at])
  })

  it('is in the receipts of the orders that it covers, those that were kept before among them', async () => {
    const made = await createdId(admin)
    await cosign(service)
    const id = await approved(made)
    const early = await receiptOf(id)
    assert.equal(await cosignedAt(early), undefined)
    assert.equal(await receiptOf(id), early)
    await cosign(service)
    const receipt = await receiptOf(id)
    assert.equal(await cosignedAt(receipt), at)
    const later = await approved()
    await cosign(service)
    assert.equal(await receiptOf(id), receipt)
    assert.equal(await cosignedAt(await receiptOf(later)), at)
  })

  it('is in no new receipt of a stopped log, nor served in the next era, nor beyond the end', async () => {
    const id = await approved()
    await cosign(service)
    await contradict(service.db, 3)
    assertProblem(await admin.get(`/v1/orders/${id}/receipt`), 503, 'log-contradicted')
    const slower = await cosignedCheckpoint(service.db.read)
    assert.ok(slower)
    await service.db.write('beginEra', { atLeast: 1, stamp: stamp() })
    assert.deepEqual(await served(), [await sizeNow(), undefined])
    await cosign(service)
    const size = await sizeNow()
    for (const late of [slower, { ...slower, size: size + 9 }]) await keep(service.db, late)
    assert.deepEqual(await served(), [size, at])
    await withRawDatabase(service.databaseUrl, (raw) =>
      sql`update log_cosigned set size = ${size + 1}`.execute(raw),
    )
    assert.deepEqual(await served(), [size, undefined])
  })
})

describe('a service without witnesses', () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))

  it('serves the newest checkpoint, although witnesses cosigned one before', async () => {
    await addEvents(service, 3)
    await cosign(service)
    await addEvents(service, 1)
    const { text } = await admin.get('/v1/log/checkpoint')
    assert.equal(readCheckpoint(readNote(text).text).size, (await headOfLog(service.db.read)).size)
  })
})

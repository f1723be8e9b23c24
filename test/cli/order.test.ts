import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openAppDatabase } from '../../server/operations.ts'
import { orderIdAt, orderRow, stamp } from '../support/orders.ts'
import { commandLine } from './command-line.ts'

describe('order erase-document', () => {
  it('deletes the bytes, keeps the hash and leaves an event, once', async (t) => {
    const cli = commandLine(t)
    const db = await openAppDatabase({ databaseUrl: `file:${cli.databaseFile}` })
    const now = Date.UTC(2026, 0, 1)
    const [orderId, id] = [orderIdAt(now, 1), orderIdAt(now, 2)]
    const by = { ...stamp(), byId: 1 }
    await db.write('addOrders', { orders: [orderRow({ id: orderId })], events: [] })
    await db.write('keepPiece', { documentId: id, piece: 0, bytes: new Uint8Array(9), nowMilliseconds: now })
    await db.close()
    const insert = "insert into order_documents values (?, ?, 'a', 'text/plain', 9, 'digest', ?, 'jo', null)"
    cli.change(insert, id, orderId, by.nowMilliseconds)
    const erased = await cli.json(`order erase-document ${orderId} ${id}`)
    assert.deepEqual(erased, { orderId, id, sha256: 'digest' })
    assert.deepEqual(cli.column('select * from document_pieces'), [])
    assert.deepEqual(cli.column('select kind from unsealed_events'), ['document-erased'])
    const again = await cli.run(`order erase-document ${orderId} ${id}`)
    assert.deepEqual([again.status, again.stderr], [1, 'countersign: no such document\n'])
    const wrong = await cli.run('order erase-document x y')
    assert.equal(wrong.status, 2)
    assert.match(wrong.stderr, /the id of the order is a UUID/)
  })
})

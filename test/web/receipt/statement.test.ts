import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { it } from 'node:test'
import { signReceipt } from '../../../server/audit/statements.ts'
import { readStatement } from '../../../web/src/orders/receipt/statement.ts'

it('a receipt is read as it was signed, in every script', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const receipt = {
    order: {
      id: '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57',
      version: 3,
      customer: 'Müller & 株式会社 😀',
      total: '99999999999.9999',
      createdBy: 'operator',
      createdById: 2,
      createdAtUtc: '2026-11-20T09:30:00.000Z',
    },
    approvals: [{ by: 'admin', byId: 1, atUtc: '2026-11-20T10:00:00.000Z' }],
    event: { sequence: 7, hash: 'ab'.repeat(32) },
    checkpoint: { size: 9, hash: 'cd'.repeat(32) },
  }
  const keys = { algorithm: 'RS256', kid: 'thumbprint', privateKey } as const
  const jws = await signReceipt(keys, 'https://orders.example', receipt, 1_700_000_000_000)
  assert.deepEqual(readStatement(jws), {
    statement: { ...receipt, iss: 'https://orders.example', iat: 1_700_000_000 },
    keyId: 'thumbprint',
    algorithm: 'RS256',
  })
})

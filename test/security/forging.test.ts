import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { sql } from '#kysely'
import { readNote, type VerifierKey } from '../../proof/note.ts'
import { vouchedBy } from '../../proof/proof.ts'
import { readReceipt } from '../../proof/receipt.ts'
import { judgeReceipt, verdictOf } from '../../proof/verdict.ts'
import { signReceipt } from '../../server/audit/checkpoints/receipt.ts'
import { AccessTokens } from '../../server/auth/credentials/tokens/tokens.ts'
import { checkpointBy, newSigner, signatureBy } from '../../witness/test/signed-log.ts'
import { newClient } from '../support/accounts.ts'
import { approvedOrder, logAround, origin, receiptOver, spellReceipt } from '../support/approved-order.ts'
import { Passkey } from '../support/authenticator.ts'
import { withRawDatabase } from '../support/database.ts'
import { headOf, makeSigningKeys, renamed, seal, testLogKeys } from '../support/log.ts'
import { createdId } from '../support/orders.ts'
import { policyRow, putPolicy } from '../support/policy.ts'
import { publicUrl, setUp, testService } from '../support/service.ts'

const columns = ['the key of tokens', 'the key of the log', 'the database'] as const
type Attempts = Record<(typeof columns)[number], () => Promise<boolean>>

describe('the table of SECURITY.md says what can be forged:', async () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))
  const log = await newSigner(origin, 'ed25519', testLogKeys()[0])
  const witness = await newSigner('witness.example.org', 'cosignature/v1')
  const tokens = await makeSigningKeys()
  const contents = await approvedOrder({ approvers: [{ by: 'ann', byId: 5, signs: true }] })
  const lines = logAround(contents)
  const honest = receiptOver(lines, [log])
  const isValid = async (receipt: object, key: VerifierKey = log.key) =>
    verdictOf([await judgeReceipt(spellReceipt(receipt), [key])]) === 'valid'
  /** Another name in the line of the approval, and every hash made again. */
  const rewritten = (others = contents) =>
    logAround(others.map((line) => (line.kind === 'approved' ? renamed(line, { by: 'eve' }) : line)))
  const unsigned = contents.map(({ data: { signature: _, ...data }, ...line }) => ({ ...line, data }))
  const invented = unsigned.filter(({ kind }) => kind !== 'passkey-added')
  const stolen = async () => false

  /** Approves the order by a token that only the key of tokens has made, as a service. */
  async function approvesByToken(): Promise<boolean> {
    const client = await newClient(service, ['Admin'])
    const issuer = new AccessTokens(
      service.keys,
      () => publicUrl,
      () => service.now(),
    )
    const { credentials_changed_at: changedAt } = await service.db.read
      .selectFrom('principals')
      .select('credentials_changed_at')
      .where('id', '=', client.id)
      .executeTakeFirstOrThrow()
    const subject = { subject: client.clientId, userName: client.clientId, roles: ['Admin'], signIn: null }
    const { token } = await issuer.issue({ ...subject, credentialsChangedAt: changedAt }, 900, service.now())
    const order = await createdId(admin)
    const caller = service.client()
    const headers = { authorization: `Bearer ${token}` }
    const answer = await caller.patch(`/v1/orders/${order}/approve`, undefined, headers)
    return answer.status === 204
  }

  /** Puts the event of an approval into the database, which the service then seals. */
  async function approvesByRow(): Promise<boolean> {
    await putPolicy(service, [policyRow()])
    const order = await createdId(admin)
    await seal(service.db)
    await withRawDatabase(service.databaseUrl, async (raw) => {
      const copied = sql`id, kind, subject_kind, subject_id, version, at, at_time_zone, by_id, for_id, data, hashes, clear`
      await sql`insert into unsealed_events (${copied})
        select id || 'x', 'approved', subject_kind, subject_id, 2, at, at_time_zone, 4711, for_id,
          json_remove(data, '$.number', '$.rules', '$.ownerId'), hashes, clear
        from events where subject_id = ${order}`.execute(raw)
      await sql`update orders set status = 1, approvals_given = 1, version = 2 where id = ${order}`.execute(
        raw,
      )
    })
    const { receipt } = (await admin.get(`/v1/orders/${order}/receipt`)).body
    return verdictOf([await judgeReceipt(receipt, [log.key])]) === 'valid'
  }

  const attempts: Record<string, Attempts> = {
    'a receipt that says something else than the log': {
      'the key of tokens': async () => {
        const forged = { ...honest, lines: receiptOver(rewritten(invented), [log]).lines }
        const jws = await signReceipt(tokens, publicUrl, forged, 0)
        return isValid(readReceipt(jws))
      },
      'the key of the log': () => isValid(receiptOver(rewritten(invented), [log])),
      'the database': async () => {
        const [line] = receiptOver(rewritten(invented), [log]).lines.slice(-1)
        return isValid({ ...honest, lines: [...honest.lines.slice(0, -1), line] })
      },
    },
    'an approval that is signed with a passkey which was enrolled before': {
      'the key of tokens': () => isValid(receiptOver(rewritten(), [log])),
      'the key of the log': () => isValid(receiptOver(rewritten(), [log])),
      'the database': async () => {
        // Another key under the id of the passkey, as only another line could enrol it.
        const other = new Passkey()
        return isValid(
          receiptOver(
            logAround(
              contents.map((line) =>
                line.kind === 'passkey-added'
                  ? { ...line, data: { passkey: { ...(line.data.passkey as object), publicKey: other.jwk } } }
                  : line,
              ),
            ),
            [log],
          ),
        )
      },
    },
    'a new approval that is not signed': {
      'the key of tokens': approvesByToken,
      'the key of the log': stolen,
      'the database': approvesByRow,
    },
    'a checkpoint': {
      'the key of tokens': () =>
        isSignedBy(checkpointBy([{ ...log, privateKey: witness.privateKey }], origin, headOf(lines))),
      'the key of the log': () => isSignedBy(checkpointBy([log], origin, headOf(lines.slice(1)))),
      'the database': () =>
        isSignedBy(
          checkpointBy([log], origin, headOf(lines))
            .replace('\n14\n', '\n9\n')
            .replace(/\n\d+\n/, '\n9\n'),
        ),
    },
    'the cosignature of a witness': {
      'the key of tokens': stolen,
      'the key of the log': async () => {
        const text = readNote(honest.checkpoint).text
        const { signature } = signatureBy(log, text)
        const { name, id } = witness.key
        return isCosigned({ text, signatures: [{ name, id, signature }] })
      },
      'the database': stolen,
    },
  }
  const isSignedBy = async (checkpoint: string) =>
    (await vouchedBy(readNote(checkpoint), [log.key])).signed.length > 0
  const isCosigned = async (note: ReturnType<typeof readNote>) =>
    (await vouchedBy(note, [witness.key])).cosigned.length > 0

  const text = await readFile(new URL('../../SECURITY.md', import.meta.url), 'utf8')
  const rows = [...text.matchAll(/^\| (.+?) \| (yes|no)(.*?) \| (yes|no)(.*?) \| (yes|no)(.*?) \|$/gm)]

  it('each row is tried', () => {
    assert.deepEqual(
      rows.map(([, name]) => name),
      Object.keys(attempts),
    )
  })

  for (const [name, tried] of Object.entries(attempts)) {
    for (const [at, by] of columns.entries()) {
      it(`${name}, with ${by}`, async () => {
        const row = rows.find(([, forged]) => forged === name) ?? []
        assert.equal(await tried[by](), row[2 + 2 * at] === 'yes')
      })
    }
  }
})

import assert from 'node:assert/strict'
import { bearerOf, newUser, type TestUser } from '../../support/accounts.ts'
import type { Client } from '../../support/client.ts'
import { seal } from '../../support/log.ts'
import { type MailServer, postOf } from '../../support/mail.ts'
import { type Service, setUp } from '../../support/service.ts'

export interface Person {
  user: TestUser
  caller: Client
}

/** People who want mail about orders, and the post that sends it. */
export function mailedPeople(service: Service, server: MailServer) {
  const post = setUp(async () => postOf(service, server))
  const mails = async () => {
    await seal(service.db)
    await post.sendAll()
    service.advance(30_000)
    await post.sendAll()
    return server.received()
  }
  const onlyMail = async () => {
    const [mail, ...others] = await mails()
    assert.ok(mail && others.length === 0)
    return mail
  }
  const newPerson = async (settings: object = {}, roles = ['Admin']): Promise<Person> => {
    const user = await newUser(service, { roles })
    const caller = await bearerOf(service, user)
    const set = { waiting: 'never', hour: 8, decided: false, noted: false, ...settings }
    const answer = await caller.send('PUT', '/v1/auth/me/mail', set)
    assert.equal(answer.status, 204, answer.text)
    return { user, caller }
  }
  return { post, mails, onlyMail, newPerson }
}
